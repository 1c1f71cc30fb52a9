"""Opening sessions and starting leads."""
