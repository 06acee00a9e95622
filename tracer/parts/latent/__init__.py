"""Multi-head latent attention (DeepSeek-V2, DeepSeek-AI 2024, equations 9 to 19)."""
