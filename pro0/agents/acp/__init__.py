"""Any agent that speaks the Agent Client Protocol: our own client runs it, draws it, and carries mail and answers."""
