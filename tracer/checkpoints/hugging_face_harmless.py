"""Patterns of keys that never change the logits, from what five years of writers wrote.

A key that no pattern matches, and that no family reads, may change the result and is refused.
"""

from __future__ import annotations

_CHANGES_NOTHING = {
    "where the model comes from": "architectures auto_map custom_pipeline* *name_or_path "
    "_commit_hash transformers_version transformers.js_config internal_version license base_model "
    "model_name unsloth_*",
    "how its numbers are stored": "*dtype *_in_fp32 fp16 bf16 fp32 use_bfloat16",
    "how it was initialized": "initializer_* init_std init_method* init_device embedding_init_std",
    "how it was trained": "*dropout* *_pdrop *layerdrop *jitter_noise *loss* *_z_coef* seq_aux "
    "gradient_checkpointing* neftune_* label_smoothing* pretraining_tp max_sequence_length "
    "max_seq_len max_seq_length seq_length save_step training_args*",
    "what it was fine-tuned for": "finetuning_task task_specific_params problem_type id2label "
    "label2id num_labels _num_labels summary_* classifier_* is_llama_config",
    "where it runs": "*implementation* *flash_att* use_sdpa* *_plan *_parallel_size "
    "tensor_parallel* sequence_parallel* device_map xla_device use_cache use_cache_* "
    "chunk_size_feed_forward torchscript upcast_* reorder_and_upcast_attn fused_* use_fused_*",
    "what it returns": "output_attentions output_hidden_states output_scores output_logits "
    "output_past output_router_logits return_dict_in_generate",
    "which tokens have a use": "*token_id *token_ids *suppress_tokens *special_tokens prefix "
    "bos_token eos_token pad_token unk_token bad_words_ids force_words_ids tokenizer_class "
    "model_max_length",
    "how a text is continued": "is_decoder do_sample temperature top_k top_p min_p typical_p "
    "epsilon_cutoff eta_cutoff min_length max_length *_new_tokens max_time num_beams "
    "num_beam_groups num_return_sequences early_stopping stop_strings penalty_alpha *_penalty "
    "*ngram_size remove_invalid_values renormalize_logits guidance_scale cache_implementation "
    "cache_config max_cache_len prefill_chunk_size *_num_tokens num_assistant_tokens* *assistant* "
    "*_lookbehind constraints sequence_bias token_healing watermarking_config low_memory top_h "
    "compile_config disable_compile continuous_batching_config dola_layers speculation_type "
    "use_mtp _from_model_config force_bos_token_to_be_generated",
    "sizes of a part that another key turns on": "max_window_layers _sliding_window_pattern",
}
HARMLESS = tuple(pattern for patterns in _CHANGES_NOTHING.values() for pattern in patterns.split())
