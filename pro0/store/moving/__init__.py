"""The move of a team's documents between files and a database."""
