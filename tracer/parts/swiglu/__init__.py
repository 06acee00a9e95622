"""SwiGLU as an activation: a gate with a factor and limits (gpt-oss, Agarwal et al. 2025)."""
