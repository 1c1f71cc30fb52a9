"""The warm process beside a lead: it does short commands in processes that have everything loaded."""
