"""Every performance figure of pro0, measured beside a floor in the same run: `make bench`."""
