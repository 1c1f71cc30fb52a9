"""What works beside the lead's rounds."""
