# Numbers of R for tests/golden/test_statistics_reference.py:
#   Rscript statistics.R path/to/saheart.csv > statistics.json
# All packages but logistf are Debian's.
suppressMessages({library(survey); library(sandwich); library(logistf); library(splines); library(mice); library(car); library(brglm2); library(jsonlite)})
d <- read.csv(commandArgs(TRUE)[1])
n <- nrow(d); i <- seq_len(n)
strict <- list(epsilon = 1e-15, maxit = 100)
# A fit of glm's kind holds the covariance of its last step but one: begun anew at its own end, that is the end.
again <- function(fit, ...) {
  f <- do.call(fit, list(..., control = strict))
  do.call(fit, list(..., control = strict, start = coef(f)))
}
logit <- function(...) again(glm, ..., family = binomial())
model <- chd ~ tobacco + ldl + typea + age
table <- function(s) list(estimate = unname(s[, 1]), se = unname(s[, 2]), t = unname(s[, 3]), p = unname(s[, 4]))
out <- list()

# A survey: strata, clusters within them, weights
d$cluster <- (i * 7) %% 23; d$weight <- 1.5 + (i * 13) %% 5
survey <- function(design) {
  f <- again(svyglm, model, design = design, family = quasibinomial())
  c(table(summary(f)$coefficients), list(df = f$df.residual, interval = unname(confint(f))))
}
out$survey <- survey(svydesign(ids = ~cluster, strata = ~famhist, weights = ~weight, data = d, nest = TRUE))
out$survey_strata <- survey(svydesign(ids = ~1, strata = ~famhist, weights = ~weight, data = d))
out$survey_clusters <- survey(svydesign(ids = ~cluster, weights = ~weight, data = d))
out$survey_weights <- survey(svydesign(ids = ~1, weights = ~weight, data = d))

# Five completed copies, by a rule without random numbers
fits <- lapply(1:5, function(k) {
  e <- d; r <- (i * 11) %% 6 == 0; e$ldl[r] <- e$ldl[r] + 1.5 * sin(seq_len(sum(r)) * k)
  logit(model, data = e)
})
p <- pool(as.mira(fits)); s <- summary(p, conf.int = TRUE)
out$pool <- list(estimate = s$estimate, se = s$std.error, t = s$statistic, p = s$p.value, df = s$df,
                 fmi = p$pooled$fmi, low = s[["2.5 %"]], high = s[["97.5 %"]])

# Nested models
large <- logit(model, data = d)
small <- logit(chd ~ tobacco + ldl, data = d)
lr <- anova(small, large, test = "LRT"); rao <- anova(small, large, test = "Rao")
wald <- linearHypothesis(large, c("typea = 0", "age = 0"), test = "Chisq")
out$nested <- list(statistic = c(lr$Deviance[2], wald$Chisq[2], rao$Rao[2]),
                   p = c(lr[["Pr(>Chi)"]][2], wald[["Pr(>Chisq)"]][2], rao[["Pr(>Chi)"]][2]))

# Whole terms, each against the model without it: car's likelihood-ratio and Wald tests, and Rao's
d$site <- factor(c("north", "south", "west")[1 + (i * 5) %% 7 %% 3])
f <- logit(chd ~ tobacco + site + famhist * age, data = d)
g <- logit(chd ~ tobacco + site + famhist + age, data = d)
lr <- Anova(g, type = 2, test.statistic = "LR"); wald <- Anova(g, type = 3, test.statistic = "Wald")
wide <- anova(g, f, test = "LRT"); rao <- sapply(c("tobacco", "site", "famhist", "age"), function(term) {
  anova(logit(update(formula(g), paste(". ~ . -", term)), data = d), g, test = "Rao")$Rao[2]
})
out$terms <- list(lr = lr[["LR Chisq"]], wald = wald$Chisq[-1], rao = unname(rao), df = lr$Df,
                  p = lr[["Pr(>Chisq)"]], logLik = as.numeric(logLik(g)), AIC = AIC(g), BIC = BIC(g),
                  interaction = c(wide$Deviance[2], wide[["Pr(>Chi)"]][2]))
out$odds <- list(ratio = unname(exp(coef(g))), interval = unname(exp(confint.default(g))), covariance = unname(vcov(g)))

# Type II of a model with an interaction: each term against the model without it and what holds it
f2 <- Anova(f, type = 2, test.statistic = "LR")
out$type2 <- list(lr = f2[["LR Chisq"]], df = f2$Df, p = f2[["Pr(>Chisq)"]])
# Type III, the others and their interactions kept, with contrasts that sum to zero
d$history <- d$famhist == "Present"; d$turned <- ifelse(d$history, -1, 1); d$product <- d$turned * d$age
options(contrasts = c("contr.sum", "contr.poly"))
f3 <- Anova(logit(chd ~ tobacco + famhist * age, data = d), type = 3, test.statistic = "Wald")
l3 <- Anova(logit(chd ~ tobacco + famhist * age, data = d), type = 3, test.statistic = "LR")
options(contrasts = c("contr.treatment", "contr.poly"))
out$type3 <- list(wald = f3$Chisq[-1], lr = l3[["LR Chisq"]])

# Covariances that hold where the model does not
robust <- function(V) list(se = unname(sqrt(diag(V))))
out$robust <- list(HC0 = robust(vcovHC(large, type = "HC0")), HC1 = robust(vcovHC(large, type = "HC1")),
                   cluster = robust(vcovCL(large, cluster = d$cluster, type = "HC1")))

# Splines, with their knots at quantiles; an offset and rows that count several times
f <- logit(chd ~ bs(age, df = 5) + tobacco, data = d)
out$splines <- c(table(summary(f)$coefficients), list(logLik = as.numeric(logLik(f))))
d$exposure <- log(1 + i %% 4); d$count <- 1 + i %% 3
f <- logit(chd ~ tobacco + ldl + offset(exposure), data = d, weights = d$count)
out$offset <- c(table(summary(f)$coefficients), list(logLik = as.numeric(logLik(f)), deviance = deviance(f)))

# No intercept, a column for each level of the category; against fewer columns, and against an intercept besides
f <- logit(chd ~ 0 + famhist + tobacco + age, data = d); n0 <- logit(chd ~ 0 + age + tobacco, data = d)
g <- logit(chd ~ 0 + age + tobacco + ldl, data = d); h <- logit(chd ~ age + tobacco + ldl, data = d)
tests <- function(small, large, W) {
  lr <- anova(small, large, test = "LRT"); rao <- anova(small, large, test = "Rao")
  c(lr$Deviance[2], linearHypothesis(large, W, test = "Chisq")$Chisq[2], rao$Rao[2])
}
out$origin <- c(table(summary(f)$coefficients), list(null = f$null.deviance, AIC = AIC(f), BIC = BIC(f),
  HC1 = unname(sqrt(diag(vcovHC(f, type = "HC1")))), cluster = unname(sqrt(diag(vcovCL(f, cluster = d$cluster, type = "HC1")))),
  survey = unname(SE(again(svyglm, formula(f), design = svydesign(ids = ~cluster, weights = ~weight, data = d), family = quasibinomial()))),
  columns = tests(n0, g, "ldl = 0"), intercept = tests(g, h, "(Intercept) = 0"), leverage = unname(hatvalues(f))[1:20], cook = unname(cooks.distance(f))[1:20]))

# Nested models of rows that count several times, with offsets
large2 <- logit(chd ~ tobacco + ldl + age + offset(exposure), data = d, weights = d$count)
small2 <- logit(chd ~ tobacco + offset(exposure), data = d, weights = d$count)
out$weighed <- list(statistic = tests(small2, large2, c("ldl = 0", "age = 0")))

# Splines and polynomials of other degrees and knots, other contrasts and references
others <- c("bs(age, df = 4, degree = 2) + tobacco", "bs(age, knots = c(30, 50), degree = 3) + tobacco", "poly(age, 3) + tobacco",
  "scale(age) + tobacco", "C(site, contr.sum) + age", "C(site, contr.helmert) * age", "relevel(site, 'south') * famhist + age",
  "(tobacco + age + famhist)^2", "site / age")
out$formulas <- setNames(lapply(others, function(right) {
  f <- logit(as.formula(paste("chd ~", right)), data = d)
  c(table(summary(f)$coefficients), list(logLik = as.numeric(logLik(f)), fitted = unname(fitted(f)[1:20])))
}), others)

# Marginal effects, averaged and at the mean row, with errors by the delta method on a numerical derivative
M <- model.matrix(large); effects <- list(
  overall = function(b) mean(dlogis(M %*% b)) * b[-1], mean = function(b) dlogis(sum(colMeans(M) * b)) * b[-1])
out$effects <- lapply(effects, function(e) {
  J <- numDeriv::jacobian(e, coef(large)); list(estimate = unname(e(coef(large))), se = sqrt(diag(J %*% vcov(large) %*% t(J))))
})

# Three classes: nnet's weights, followed by Newton's steps to the end, relative to the first class and to the last
d$kind <- factor(ifelse(d$chd == 1, "ill", ifelse(d$adiposity > 25, "stout", "well")))
m <- nnet::multinom(kind ~ tobacco + ldl + age, d, trace = FALSE, maxit = 1000, reltol = 1e-12)
multinomial <- function(from) {
  X <- model.matrix(m); others <- setdiff(levels(d$kind), from); Y <- outer(as.character(d$kind), others, `==`) * 1
  B <- rbind(0, coef(m))[match(c(from, others), levels(d$kind)), ]; B <- t(sweep(B, 2, B[1, ])[-1, ]); p <- nrow(B)
  for (k in 1:20) {
    E <- exp(X %*% B); P <- E / (1 + rowSums(E)); H <- matrix(0, 2 * p, 2 * p)
    for (a in 1:2) for (b in 1:2) H[(a - 1) * p + 1:p, (b - 1) * p + 1:p] <- crossprod(X * (P[, a] * ((a == b) - P[, b])), X)
    B <- B + matrix(solve(H, as.vector(crossprod(X, Y - P)), tol = 1e-30), p)
  }
  V <- solve(H, tol = 1e-30); se <- sqrt(diag(V)); z <- as.vector(B) / se
  R <- Y - P; S <- cbind(X * R[, 1], X * R[, 2]); C <- rowsum(S, d$cluster); G <- nrow(C); k <- 2 * p
  effects <- function(b) {  # of each class, averaged: the mean of p_k (w_k - sum of p_l w_l)
    W <- cbind(0, matrix(b, p)); E <- exp(X %*% W); Q <- E / rowSums(E)
    as.vector(sapply(1:3, function(c) colMeans(Q[, c] * (rep(1, nrow(X)) %o% W[-1, c] - Q %*% t(W[-1, ])))))
  }
  J <- numDeriv::jacobian(effects, as.vector(B))
  list(estimate = as.vector(B), se = se, t = z, p = 2 * pnorm(-abs(z)), HC0 = sqrt(diag(V %*% crossprod(S) %*% V)),
       cluster = sqrt(diag(V %*% crossprod(C) %*% V) * G / (G - 1) * (nrow(X) - 1) / (nrow(X) - k)),
       effects = effects(as.vector(B)), errors = sqrt(diag(J %*% V %*% t(J))),
       logLik = sum(rowSums(Y * (X %*% B)) - log1p(rowSums(exp(X %*% B)))))
}
out$multinomial <- list(ill = multinomial("ill"), well = multinomial("well"))

# Each coefficient by itself: likelihood-ratio tests, and the ends of its profile interval by a search for the root
X <- model.matrix(large); best <- as.numeric(logLik(large))
held <- function(j, t) {
  f <- suppressWarnings(glm.fit(X[, -j], d$chd, family = binomial(), offset = t * X[, j], control = strict))
  2 * best + f$deviance
}
end <- function(j, side) {
  b <- coef(large)[j]; se <- sqrt(vcov(large)[j, j])
  uniroot(function(t) held(j, t) - qchisq(0.95, 1), sort(b + side * se * c(1.2, 3)), tol = 1e-14)$root
}
ratio <- sapply(1:5, held, t = 0)
out$profile <- list(statistic = ratio, p = pchisq(ratio, 1, lower.tail = FALSE),
                    low = unname(sapply(1:5, end, side = -1)), high = unname(sapply(1:5, end, side = 1)))

# A category, alone and with an interaction
f <- logit(chd ~ tobacco + famhist + age, data = d)
out$category <- table(summary(f)$coefficients)
f <- logit(chd ~ tobacco + famhist * age, data = d)
out$interaction <- table(summary(f)$coefficients)

# Firth's fit: each coefficient against zero by its penalised likelihood (the test of logistf), on few rows
few <- d[(i %% 9) == 0, ]; Z <- model.matrix(model, few)
penalised <- function(b) {
  z <- as.vector(Z %*% b); p <- plogis(z)
  sum(few$chd * z - log1p(exp(z))) + determinant(t(Z) %*% (p * (1 - p) * Z))$modulus[1] / 2
}
f <- glm(model, data = few, family = binomial(), method = "brglmFit", type = "AS_mean", epsilon = 1e-13, maxit = 500)
top <- function(j) {  # Newton's steps on differences, until nothing is gained
  b <- coef(f); b[j] <- 0; free <- setdiff(1:5, j); u <- 1 / apply(abs(Z), 2, max)
  g <- function(x) { b[free] <- x * u[free]; -penalised(b) }
  x <- b[free] / u[free]
  for (k in 1:8) x <- optim(x, g, method = "BFGS", control = list(reltol = 1e-16, maxit = 500))$par
  -g(x)
}
ratio <- 2 * (penalised(coef(f)) - sapply(1:5, top))
out$firth <- list(estimate = unname(coef(f)), statistic = ratio, p = pchisq(ratio, 1, lower.tail = FALSE))

# Firth's fit with its intercept corrected (FLIC), and with added covariate (FLAC), on few rows with a rare class
e <- d[(i %% 9) == 0, ]; e$chd[seq(1, nrow(e), 2)] <- 0
f <- glm(model, data = e, family = binomial(), method = "brglmFit", type = "AS_mean", epsilon = 1e-13, maxit = 500)
eta <- as.vector(model.matrix(f)[, -1] %*% coef(f)[-1])
icept <- logit(e$chd ~ offset(eta))
out$flic <- list(estimate = unname(c(coef(icept), coef(f)[-1])))
X <- model.matrix(f); pr <- fitted(f); W <- pr * (1 - pr)
h <- W * rowSums((X %*% solve(t(X) %*% (W * X))) * X)
three <- rbind(e, e, e); three$added <- rep(c(0, 1), c(nrow(e), 2 * nrow(e)))
three$chd <- c(e$chd, e$chd, 1 - e$chd); w <- c(rep(1, nrow(e)), h / 2, h / 2)
g <- suppressWarnings(again(glm, update(model, . ~ . + added), data = three, weights = w, family = quasibinomial()))
V <- summary(g, dispersion = 1)$cov.scaled
out$flac <- list(estimate = unname(coef(g)[1:5]), se = unname(sqrt(diag(V))[1:5]))

# The same by logistf, with profile intervals of the penalised likelihood and their tests
control <- logistf.control(maxit = 5000, xconv = 1e-13, gconv = 1e-13, lconv = 1e-15, maxstep = 0.5)
profile <- logistpl.control(maxit = 5000, xconv = 1e-12, lconv = 1e-14, maxstep = 0.5)
f <- logistf(model, data = few, control = control, plcontrol = profile)
g <- logistf(model, data = e, control = control, plcontrol = profile)
out$logistf <- list(estimate = unname(coef(f)), low = unname(f$ci.lower), high = unname(f$ci.upper), p = unname(f$prob),
                    flic = unname(coef(flic(g))), flac = unname(coef(do.call(flac, list(model, data = e, control = control)))))
out$versions <- list(R = R.version.string, survey = as.character(packageVersion("survey")), mice = as.character(packageVersion("mice")),
                     car = as.character(packageVersion("car")), brglm2 = as.character(packageVersion("brglm2")),
                     sandwich = as.character(packageVersion("sandwich")), logistf = as.character(packageVersion("logistf")))
cat(toJSON(out, digits = NA, auto_unbox = TRUE, pretty = TRUE), "\n")
