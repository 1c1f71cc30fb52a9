"""Operations: one function per change; surfaces only translate."""
