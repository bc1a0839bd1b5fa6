"""The models of experts.py: tiny configurations, at least six of each family."""
import transformers as tf

BASE = dict(vocab_size=97, hidden_size=32, intermediate_size=36, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=2, max_position_embeddings=128, pad_token_id=None, bos_token_id=1, eos_token_id=2,
            tie_word_embeddings=False)
RECURRENT = "qwen35"


def rope(kind="default", theta=10000.0, **keys):
    return {"rope_type": kind, "rope_theta": theta, **keys}


def family(cls, kind, common, variations):
    return {name: (cls, kind(**{**BASE, **common, **changes})) for name, changes in variations.items()}


YARN = rope("yarn", factor=4.0, original_max_position_embeddings=32)

MODELS = {
    **family(tf.Qwen3MoeForCausalLM, tf.Qwen3MoeConfig,
             dict(num_experts=6, num_experts_per_tok=2, moe_intermediate_size=12, head_dim=12, norm_topk_prob=True), {
                 "qwen3moe_plain": {},
                 "qwen3moe_top1": dict(num_experts_per_tok=1, num_key_value_heads=1),
                 "qwen3moe_all": dict(num_experts=3, num_experts_per_tok=3, num_key_value_heads=4),
                 "qwen3moe_many": dict(num_experts=40, num_experts_per_tok=8, moe_intermediate_size=8, tie_word_embeddings=True),
                 "qwen3moe_yarn": dict(rope_parameters=YARN),
                 "qwen3moe_dense_layer": dict(num_hidden_layers=3, mlp_only_layers=[1], head_dim=8),
             }),
    **family(tf.MixtralForCausalLM, tf.MixtralConfig, dict(num_local_experts=4, num_experts_per_tok=2), {
        "mixtral_plain": {},
        "mixtral_top1": dict(num_experts_per_tok=1, num_key_value_heads=1),
        "mixtral_all": dict(num_local_experts=3, num_experts_per_tok=3, num_key_value_heads=4),
        "mixtral_eight": dict(num_local_experts=8, head_dim=12, intermediate_size=20),
        "mixtral_tied": dict(tie_word_embeddings=True, hidden_size=48, num_attention_heads=6),
        "mixtral_linear": dict(rope_parameters=rope("linear", factor=2.7)),
    }),
    **family(tf.Qwen2MoeForCausalLM, tf.Qwen2MoeConfig,
             dict(num_experts=6, num_experts_per_tok=2, moe_intermediate_size=12, shared_expert_intermediate_size=20), {
                 "qwen2moe_plain": {},
                 "qwen2moe_top1": dict(num_experts_per_tok=1, num_key_value_heads=1),
                 "qwen2moe_all": dict(num_experts=3, num_experts_per_tok=3, num_key_value_heads=4),
                 "qwen2moe_many": dict(num_experts=40, num_experts_per_tok=8, moe_intermediate_size=8),
                 "qwen2moe_tied": dict(tie_word_embeddings=True, hidden_size=48, num_attention_heads=6),
                 "qwen2moe_yarn": dict(rope_parameters=YARN),
             }),
}

LATENT = dict(kv_lora_rank=24, qk_nope_head_dim=12, qk_rope_head_dim=8, v_head_dim=10, num_key_value_heads=4, num_hidden_layers=3,
              first_k_dense_replace=1, moe_intermediate_size=12, num_experts_per_tok=2)
DEEPSEEK_YARN = rope("yarn", factor=4.0, original_max_position_embeddings=32, mscale=1.0, mscale_all_dim=1.0, beta_fast=32, beta_slow=1)

MODELS |= {
    **family(tf.DeepseekV3ForCausalLM, tf.DeepseekV3Config,
             dict(LATENT, q_lora_rank=20, n_routed_experts=8, n_group=4, topk_group=2, n_shared_experts=1), {
                 "deepseek2_v3": {},
                 "deepseek2_v3_yarn": dict(rope_parameters=DEEPSEEK_YARN),
                 "deepseek2_kimi": dict(n_routed_experts=12, n_group=1, topk_group=1, num_experts_per_tok=3, n_shared_experts=2,
                                        routed_scaling_factor=2.827),
                 "deepseek2_v3_plain_sum": dict(norm_topk_prob=False, routed_scaling_factor=1.0),
                 "deepseek2_v3_heads": dict(num_attention_heads=6, num_key_value_heads=6, qk_nope_head_dim=8, v_head_dim=16),
             }),
    **family(tf.DeepseekV2ForCausalLM, tf.DeepseekV2Config,
             dict(LATENT, q_lora_rank=None, head_dim=8, n_routed_experts=6, n_shared_experts=2), {
                 "deepseek2_v2_lite": {},
                 "deepseek2_v2_groups": dict(q_lora_rank=20, n_group=3, topk_group=1, topk_method="group_limited_greedy",
                                             routed_scaling_factor=4.0),
                 "deepseek2_v2_yarn": dict(rope_parameters=dict(DEEPSEEK_YARN, mscale=0.707, mscale_all_dim=0.707)),
             }),
}

MODELS |= family(tf.Glm4MoeForCausalLM, tf.Glm4MoeConfig,
                 dict(head_dim=8, first_k_dense_replace=1, n_routed_experts=6, num_experts_per_tok=2, n_shared_experts=1,
                      moe_intermediate_size=12, num_hidden_layers=3,
                      rope_parameters=rope(partial_rotary_factor=0.5)), {
    "glm4moe_plain": {},
    "glm4moe_biases": dict(attention_bias=True),
    "glm4moe_norms": dict(use_qk_norm=True, attention_bias=True, head_dim=12),
    "glm4moe_groups": dict(n_group=3, topk_group=2, routed_scaling_factor=1.7),
    "glm4moe_plain_sum": dict(norm_topk_prob=False, num_key_value_heads=1),
    "glm4moe_many": dict(n_routed_experts=24, num_experts_per_tok=6, n_shared_experts=2, num_key_value_heads=4),
})
MODELS |= family(tf.DeepseekV3ForCausalLM, tf.DeepseekV3Config,
                 dict(LATENT, q_lora_rank=None, n_routed_experts=8, n_group=4, topk_group=2, n_shared_experts=1), {
    "deepseek2_v3_whole_queries": dict(rope_parameters=dict(DEEPSEEK_YARN, mscale_all_dim=0.5, mscale=0.5)),
})
SINKS = dict(num_local_experts=6, num_experts_per_tok=2, intermediate_size=12, head_dim=8, sliding_window=20,
             rope_parameters=rope(theta=1000.0))
GPT_OSS_YARN = rope("yarn", factor=4.0, original_max_position_embeddings=32, beta_fast=32.0, beta_slow=1.0, truncate=False)
MODELS |= family(tf.GptOssForCausalLM, tf.GptOssConfig, SINKS, {
    "gpt-oss_plain": {},
    "gpt-oss_yarn": dict(rope_parameters=GPT_OSS_YARN),
    "gpt-oss_mqa": dict(num_key_value_heads=1, num_experts_per_tok=1),
    "gpt-oss_mha": dict(num_key_value_heads=4, num_local_experts=3, num_experts_per_tok=3),
    "gpt-oss_wide_heads": dict(head_dim=20, num_attention_heads=8, sliding_window=7, num_hidden_layers=3),
    "gpt-oss_many": dict(num_local_experts=40, num_experts_per_tok=8, intermediate_size=20, tie_word_embeddings=True),
    "gpt-oss_clamped": dict(swiglu_limit=0.7, num_hidden_layers=3),
    "gpt-oss_types": dict(num_hidden_layers=3, layer_types=["full_attention", "sliding_attention", "sliding_attention"]),
})

GEMMA4_ROPE = {"sliding_attention": rope(theta=500.0), "full_attention": rope("proportional", partial_rotary_factor=0.25)}
MODELS |= family(tf.Gemma4ForCausalLM, tf.Gemma4TextConfig,
                 dict(head_dim=16, global_head_dim=32, tie_word_embeddings=True, num_hidden_layers=6, sliding_window=20,
                      hidden_size_per_layer_input=0, vocab_size_per_layer_input=97, rope_parameters=GEMMA4_ROPE,
                      enable_moe_block=True, num_experts=6, top_k_experts=2, moe_intermediate_size=12), {
    "gemma4_experts": {},
    "gemma4_experts_top1": dict(top_k_experts=1, num_key_value_heads=1),
    "gemma4_experts_all": dict(num_experts=3, top_k_experts=3, num_key_value_heads=4),
    "gemma4_experts_many": dict(num_experts=40, top_k_experts=8, moe_intermediate_size=8),
    "gemma4_experts_26b": dict(attention_k_eq_v=True, num_global_key_value_heads=1, final_logit_softcapping=6.0, num_experts=16,
                               top_k_experts=4),
    "gemma4_experts_shared": dict(num_kv_shared_layers=2, use_double_wide_mlp=True, hidden_size_per_layer_input=8,
                                  layer_types=["sliding_attention", "full_attention"] * 3),
    "gemma4_unused_experts": dict(enable_moe_block=False),
})

DELTA = dict(num_hidden_layers=4, head_dim=16, linear_key_head_dim=8, linear_value_head_dim=12, linear_num_key_heads=2,
             linear_num_value_heads=4, rope_parameters=rope(partial_rotary_factor=0.25))
DELTA_VARIATIONS = {
    "plain": {},
    "mqa": dict(num_key_value_heads=1, linear_num_key_heads=1, tie_word_embeddings=True),
    "mha": dict(num_key_value_heads=4, linear_num_key_heads=4),
    "half": dict(head_dim=12, layer_types=["full_attention", "linear_attention"] * 2, rope_parameters=rope(partial_rotary_factor=0.5)),
    "short": dict(linear_conv_kernel_dim=2, linear_num_value_heads=6, linear_key_head_dim=12),
    "yarn": dict(rope_parameters=dict(YARN, partial_rotary_factor=0.25), head_dim=24),
}
MODELS |= family(tf.Qwen3_5ForCausalLM, tf.Qwen3_5TextConfig, DELTA,
                 {f"qwen35_{name}": changes for name, changes in DELTA_VARIATIONS.items()})
MODELS |= family(tf.Qwen3_5MoeForCausalLM, tf.Qwen3_5MoeTextConfig,
                 dict(DELTA, num_experts=6, num_experts_per_tok=2, moe_intermediate_size=12, shared_expert_intermediate_size=20),
                 {f"qwen35moe_{name}": changes for name, changes in DELTA_VARIATIONS.items()})
MODELS |= family(tf.Qwen3_5MoeForCausalLM, tf.Qwen3_5MoeTextConfig,
                 dict(DELTA, num_experts=40, num_experts_per_tok=8, moe_intermediate_size=8, shared_expert_intermediate_size=8),
                 {"qwen35moe_many": {}})
