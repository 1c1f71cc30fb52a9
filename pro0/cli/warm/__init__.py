"""The warm process of a lead. It carries out short commands in processes that have all modules loaded."""
