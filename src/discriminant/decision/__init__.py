"""From scores to acts: posteriors, a change of priors, minimum risk and reject.

``posteriors`` turns scores into probabilities, ``priors`` moves probabilities to other class frequencies, ``risk``
chooses the act of least expected cost and ``reject`` says when to choose none.  All of it is arithmetic on (n, K)
arrays: nothing here knows where the scores came from.
"""

from discriminant.decision.posteriors import (
    log_probit,
    log_sigmoid,
    log_sigmoid_pair,
    log_softmax,
    logit,
    logsumexp,
    probit,
    sigmoid,
    sigmoid_pair,
    softmax,
)  # fmt: skip
from discriminant.decision.priors import (
    check_priors,
    estimate_priors,
    prior_shift,
    shift_log_posteriors,
    shift_posteriors,
)  # fmt: skip
from discriminant.decision.reject import (
    chow_threshold,
    error_reject_curve,
    reject_by_posterior,
    reject_interval,
    with_reject,
    without_single_winner,
)  # fmt: skip
from discriminant.decision.risk import bayes_actions, check_costs, cost_threshold, expected_costs, zero_one_costs
from discriminant.decision.rule import Rule

__all__ = [
    "Rule", "bayes_actions", "check_costs", "check_priors", "chow_threshold", "cost_threshold", "error_reject_curve",
    "estimate_priors", "expected_costs", "log_probit", "log_sigmoid", "log_sigmoid_pair", "log_softmax", "logit",
    "logsumexp", "prior_shift", "probit", "reject_by_posterior", "reject_interval", "shift_log_posteriors",
    "shift_posteriors", "sigmoid", "sigmoid_pair", "softmax", "with_reject", "without_single_winner",
    "zero_one_costs",
]  # fmt: skip
