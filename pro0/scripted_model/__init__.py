"""A model provider on 127.0.0.1 with scripts as models, so agent programs cost nothing."""
