"""The operations of mail."""
