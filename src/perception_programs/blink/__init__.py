"""The BLINK benchmark: so far, the rules that read an answer from programs alone."""
