"""The table of verification rules: exact ones, lossless decoys, and faults known from the field.

Adding a rule is one function in this folder and one line here; the tests run over the table.
"""

from __future__ import annotations

from harness.protocols import Rule
from harness.registry import Registry
from harness.rules import block_faults, commit_faults, faults, lossy, reuse
from harness.rules.block import block_verification
from harness.rules.greedy import greedy, greedy_last_maximum
from harness.rules.matching import match_or_keep_target, match_or_redraw
from harness.rules.one_hot import another_token, one_hot
from harness.rules.retry import RetryRule
from harness.rules.token import TokenRule, the_draft, the_target

__all__ = ["RULES"]

RULES: Registry[Rule] = Registry(
    "rules",
    {
        "speculative": Rule(
            TokenRule(),
            "accept x with min(1, p/q), replace from (p - q)+, bonus from p: exact "
            "(Leviathan et al. 2023; Chen et al. 2023)",
            lossless=True,
            token_accounting=True,
        ),
        "block-verification": Rule(
            block_verification,
            "keep the longest prefix that the draft as a whole allows: exact, and keeps at least "
            "as much as the token rule (Sun et al. 2024)",
            lossless=True,
        ),
        "token-matching-keep-target": Rule(
            match_or_keep_target,
            "keep the draft where a draw from p equals it, else that draw: exact, only wasteful",
            lossless=True,
        ),
        "one-hot": Rule(
            one_hot,
            "keep d with p(d), else draw from p without d: exact for any draft, as for n-grams",
            lossless=True,
        ),
        "autoregressive": Rule(
            TokenRule(propose=the_target, accept=faults.always),
            "no speculation: every token from p",
            lossless=True,
        ),
        "ignore-draft": Rule(
            TokenRule(accept=faults.never, replace=the_target),
            "reject every draft and draw from p: right output law, wrong trace",
            lossless=True,
        ),
        "token-matching-redraw": Rule(
            match_or_redraw, "on a mismatch draw from p once more: law pq + (1 - sum pq) p"
        ),
        "token-matching-retry": Rule(
            RetryRule(match_or_keep_target), "start over until the tokens match: law as p q"
        ),
        "retry-until-accepted": Rule(
            RetryRule(TokenRule()), "a rejection throws the round away: law as min(p, q)"
        ),
        "accept-everything": Rule(
            TokenRule(accept=faults.always), "no coin, or a coin stuck at 0: law q"
        ),
        "resample-from-target": Rule(
            TokenRule(replace=the_target), "p in place of the residual after a rejection"
        ),
        "resample-from-draft": Rule(
            TokenRule(replace=the_draft), "q in place of the residual after a rejection"
        ),
        "absolute-residual": Rule(
            TokenRule(replace=faults.absolute_residual), "|p - q| in place of (p - q)+"
        ),
        "greedy-residual": Rule(
            TokenRule(replace=faults.most_likely_residual), "argmax of the residual, not a draw"
        ),
        "inverted-ratio": Rule(TokenRule(accept=faults.inverted_ratio), "accept with min(1, q/p)"),
        "residual-drops-drafted-only": Rule(
            another_token,
            "the residual drops q only at the drafted token (rotalabs-accel 1.1.1); "
            "the three-token example cannot see it",
        ),
        "deterministic-draft-dense-q": Rule(
            TokenRule(propose=faults.most_likely_draft),
            "drafts argmax q, scores with the whole of q (transformers #32867)",
        ),
        "silent-greedy": Rule(
            TokenRule(
                accept=faults.most_likely_target,
                replace=faults.most_likely_target,
                bonus=faults.most_likely_target,
            ),
            "verification falls back to argmax p (SGLang #37134)",
        ),
        "reused-coin": Rule(
            reuse.reused_coin,
            "the rejecting coin also inverts the residual (flashinfer #424)",
            discrete=False,
        ),
        "shared-gumbel": Rule(
            reuse.shared_gumbel,
            "the draft's Gumbel noise also draws the replacement (vLLM #47386)",
            discrete=False,
        ),
        "lenient": Rule(
            TokenRule(accept=lossy.lenient_ratio),
            "accept with min(1, 2p/q): lenience, lossy on purpose (Leviathan et al. 2023)",
        ),
        "typical-acceptance": Rule(
            TokenRule(accept=lossy.typical, replace=the_target),
            "keep what is typical of p, lossy on purpose (Medusa, Cai et al. 2024)",
        ),
        "ensemble": Rule(
            TokenRule(accept=lossy.ensemble_ratio, replace=lossy.ensemble_residual),
            "exact for (p + q)/2, lossy on purpose",
        ),
        "greedy": Rule(
            greedy,
            "argmax p throughout, the first of equals: law p where p is greedy itself",
        ),
        "greedy-last-maximum": Rule(
            greedy_last_maximum, "as greedy, but the last of equals: differs on tied laws"
        ),
        "residual-of-row-0": Rule(
            block_faults.residual_of_row_0,
            "replacement and bonus read the round's first row (flashinfer #425)",
        ),
        "bonus-by-argmax": Rule(
            TokenRule(bonus=faults.most_likely_target),
            "the bonus token is argmax p (kronk #788)",
        ),
        "bonus-from-draft": Rule(TokenRule(bonus=the_draft), "the bonus token is drawn from q"),
        "stale-context": Rule(
            block_faults.stale_context, "later positions are scored with the round's first row"
        ),
        "stale-q": Rule(
            block_faults.stale_q, "drafts are scored with the draft law of the position before"
        ),
        "first-draft-unverified": Rule(
            block_faults.first_draft_unverified,
            "a round's first drafted token commits before any row of the target is read",
        ),
        "policy-on-bonus-only": Rule(
            TokenRule(bonus=block_faults.the_promise),
            "the target's policy is honoured at the bonus position alone (vLLM #42744)",
        ),
        "rejected-token-kept": Rule(
            commit_faults.rejected_token_kept,
            "the rejected token stays and its replacement is appended (lucidrains #3)",
        ),
        "spliced-suffix": Rule(
            commit_faults.spliced_suffix,
            "after a rejection, later drafts that their coins accept are kept",
        ),
        "sum-of-flags": Rule(
            commit_faults.sum_of_flags,
            "reports the sum of accept flags, not the leading run (vLLM #2658)",
        ),
        "tokens-after-stop": Rule(
            block_faults.tokens_after_stop,
            "the end token is looked for at the end of a round only",
        ),
        "row-swap": Rule(
            commit_faults.row_swap,
            "neighbours in a batch of more than two get each other's tokens; wrong once their "
            "contexts differ",
            discrete=False,
        ),
        "frozen-stream": Rule(
            commit_faults.frozen_stream,
            "trials replay one stream two and two: each right, together dependent "
            "(TensorRT-LLM #19487, vllm-metal #50)",
            discrete=False,
        ),
    },
)
