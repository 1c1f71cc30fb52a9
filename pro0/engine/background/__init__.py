"""Background services beside the lead's rounds."""
