WITH "discriminant_step_z" AS (
  SELECT s.*,
    ((CAST(1.7083144897596338 AS DOUBLE) * (CAST(s."x0" AS DOUBLE) - CAST(0.0 AS DOUBLE))) + (CAST(2.024880514236668 AS DOUBLE) * (CAST(s."x1" AS DOUBLE) - CAST(0.0 AS DOUBLE)) + CAST(1.3739109028584138 AS DOUBLE) * (CAST(s."x2" AS DOUBLE) - CAST(0.0 AS DOUBLE)))) + ((CAST(2.3156323225610715 AS DOUBLE) * (CAST(s."x3" AS DOUBLE) - CAST(0.0 AS DOUBLE)) + CAST(1.3280323974162467 AS DOUBLE) * (CAST(s."x4" AS DOUBLE) - CAST(0.0 AS DOUBLE))) + (CAST(1.40662386081044 AS DOUBLE) * (CAST(s."x5" AS DOUBLE) - CAST(0.0 AS DOUBLE)) + CAST(-36.13132833805083 AS DOUBLE))) AS "discriminant_z0",
    ((CAST(0.037458319010044046 AS DOUBLE) * (CAST(s."x0" AS DOUBLE) - CAST(0.0 AS DOUBLE))) + (CAST(0.9265669681361637 AS DOUBLE) * (CAST(s."x1" AS DOUBLE) - CAST(0.0 AS DOUBLE)) + CAST(1.3581631659055458 AS DOUBLE) * (CAST(s."x2" AS DOUBLE) - CAST(0.0 AS DOUBLE)))) + ((CAST(1.900147803819687 AS DOUBLE) * (CAST(s."x3" AS DOUBLE) - CAST(0.0 AS DOUBLE)) + CAST(1.606129978111377 AS DOUBLE) * (CAST(s."x4" AS DOUBLE) - CAST(0.0 AS DOUBLE))) + (CAST(1.321440289515636 AS DOUBLE) * (CAST(s."x5" AS DOUBLE) - CAST(0.0 AS DOUBLE)) + CAST(-23.970834510890334 AS DOUBLE))) AS "discriminant_z1",
    ((CAST(2.165295913863588 AS DOUBLE) * (CAST(s."x0" AS DOUBLE) - CAST(0.0 AS DOUBLE))) + (CAST(1.3012731461023257 AS DOUBLE) * (CAST(s."x1" AS DOUBLE) - CAST(0.0 AS DOUBLE)) + CAST(1.4345332269678455 AS DOUBLE) * (CAST(s."x2" AS DOUBLE) - CAST(0.0 AS DOUBLE)))) + ((CAST(1.1295585174563836 AS DOUBLE) * (CAST(s."x3" AS DOUBLE) - CAST(0.0 AS DOUBLE)) + CAST(1.654487993024777 AS DOUBLE) * (CAST(s."x4" AS DOUBLE) - CAST(0.0 AS DOUBLE))) + (CAST(1.8134447874970074 AS DOUBLE) * (CAST(s."x5" AS DOUBLE) - CAST(0.0 AS DOUBLE)) + CAST(-32.14367401706317 AS DOUBLE))) AS "discriminant_z2"
  FROM "data" AS s
), "discriminant_step_y" AS (
  SELECT s.*,
    CASE WHEN ABS(s."discriminant_z0") <= CAST(1.7976931348623157e+308 AS DOUBLE) THEN s."discriminant_z0" END AS "discriminant_y0",
    CASE WHEN ABS(s."discriminant_z1") <= CAST(1.7976931348623157e+308 AS DOUBLE) THEN s."discriminant_z1" END AS "discriminant_y1",
    CASE WHEN ABS(s."discriminant_z2") <= CAST(1.7976931348623157e+308 AS DOUBLE) THEN s."discriminant_z2" END AS "discriminant_y2"
  FROM "discriminant_step_z" AS s
), "discriminant_step_g" AS (
  SELECT s.*,
    CAST(1.0 AS DOUBLE) * s."discriminant_y0" + CAST(0.0 AS DOUBLE) AS "discriminant_g0",
    CAST(1.0 AS DOUBLE) * s."discriminant_y1" + CAST(0.0 AS DOUBLE) AS "discriminant_g1",
    CAST(1.0 AS DOUBLE) * s."discriminant_y2" + CAST(0.0 AS DOUBLE) AS "discriminant_g2"
  FROM "discriminant_step_y" AS s
), "discriminant_step_e" AS (
  SELECT s.*,
    (CASE WHEN s."discriminant_g0" - GREATEST(s."discriminant_g0", s."discriminant_g1", s."discriminant_g2") < -700 THEN CAST(0.0 AS DOUBLE) ELSE EXP(s."discriminant_g0" - GREATEST(s."discriminant_g0", s."discriminant_g1", s."discriminant_g2")) END) AS "discriminant_e0",
    (CASE WHEN s."discriminant_g1" - GREATEST(s."discriminant_g0", s."discriminant_g1", s."discriminant_g2") < -700 THEN CAST(0.0 AS DOUBLE) ELSE EXP(s."discriminant_g1" - GREATEST(s."discriminant_g0", s."discriminant_g1", s."discriminant_g2")) END) AS "discriminant_e1",
    (CASE WHEN s."discriminant_g2" - GREATEST(s."discriminant_g0", s."discriminant_g1", s."discriminant_g2") < -700 THEN CAST(0.0 AS DOUBLE) ELSE EXP(s."discriminant_g2" - GREATEST(s."discriminant_g0", s."discriminant_g1", s."discriminant_g2")) END) AS "discriminant_e2"
  FROM "discriminant_step_g" AS s
), "discriminant_step_p" AS (
  SELECT s.*,
    s."discriminant_e0" / ((s."discriminant_e0") + (s."discriminant_e1" + s."discriminant_e2")) AS "discriminant_probability_0",
    s."discriminant_e1" / ((s."discriminant_e0") + (s."discriminant_e1" + s."discriminant_e2")) AS "discriminant_probability_1",
    s."discriminant_e2" / ((s."discriminant_e0") + (s."discriminant_e1" + s."discriminant_e2")) AS "discriminant_probability_2"
  FROM "discriminant_step_e" AS s
)
SELECT s.*,
    CASE WHEN s."discriminant_g0" = GREATEST(s."discriminant_g0", s."discriminant_g1", s."discriminant_g2") THEN 0 WHEN s."discriminant_g1" = GREATEST(s."discriminant_g0", s."discriminant_g1", s."discriminant_g2") THEN 1 WHEN s."discriminant_g2" = GREATEST(s."discriminant_g0", s."discriminant_g1", s."discriminant_g2") THEN 2 END AS prediction
FROM "discriminant_step_p" AS s
