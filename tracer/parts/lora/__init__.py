"""Low-rank adaptation: frozen weights plus a product of two small matrices (LoRA, Hu 2021)."""

AFTER = ("latent", "quantized")
