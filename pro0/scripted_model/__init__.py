"""A model provider on 127.0.0.1 whose models are scripts, for agent programs that must cost nothing."""
