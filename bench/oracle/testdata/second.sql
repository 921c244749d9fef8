-- Statements of what came second: aggregates of all values, WITH, window functions,
-- UNION and the like, VALUES, JSON.

-- median and the like are not in this SQLite; query/testdata has them
refused: SELECT median(name) FROM n
refused: SELECT percentile(ncpus, 101) FROM n
refused: SELECT percentile(ncpus, ncpus) FROM n

-- scalar functions
SELECT floor(1.5), floor(-1.5), floor(2), floor('2.5'), floor('x'), floor(NULL), ceil(1.2), ceil(-1.2), ceiling(3), ceil('1.1')
SELECT sqrt(4), sqrt(2), sqrt(-1), sqrt(NULL), sqrt('9'), sqrt('x'), mod(7, 3), mod(7.5, 2), mod(-7, 3), mod(7, 0), mod(NULL, 1), pow(2, 10), power(2, 0.5)
SELECT hex('abc'), hex(''), hex(NULL), hex(12), hex(1.5), hex('ä'), sign(-3), sign(0), sign(2.5), sign('x'), sign(NULL)
SELECT char(65, 66), char(), char(228), char(8364) || 'x', concat('a', 1, NULL, 2.5), concat(NULL), concat_ws(',', 'a', NULL, 'b', 3), concat_ws(NULL, 'a'), concat_ws('-', NULL)
SELECT iif(1, 2), iif(0, 2), iif(NULL, 1, 2), if(1, 'a', 'b'), if(0, 'a')
SELECT CAST('12x' AS BIGINT), CAST('1.5' AS DOUBLE PRECISION), CAST(5 AS VARCHAR(10)), CAST('3.0' AS DECIMAL(10,2)), CAST('abc' AS FLOAT), CAST(1 AS NVARCHAR), CAST('7' AS DATE), CAST('2.5' AS anything), CAST(1.9 AS UNSIGNED BIG INT)

-- orders in aggregates
SELECT group_concat(name, ',' ORDER BY name DESC) FROM n
SELECT queue, group_concat(name ORDER BY ncpus DESC, name) FROM n GROUP BY queue ORDER BY queue
SELECT string_agg(name, '/' ORDER BY load, name), group_concat(DISTINCT queue ORDER BY queue DESC) FROM n
SELECT group_concat(name, '+' ORDER BY name) FILTER (WHERE ncpus > 8), group_concat(tag ORDER BY tag DESC) FROM n
SELECT group_concat(mem, ',' ORDER BY mem NULLS LAST), sum(ncpus ORDER BY name), count(*) FROM n

-- UNION and the like
SELECT 1 UNION SELECT 2 UNION SELECT 1 ORDER BY 1
SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 1
SELECT name FROM n UNION ALL SELECT node FROM a ORDER BY 1
SELECT name FROM n UNION SELECT node FROM a ORDER BY name DESC
SELECT name FROM n INTERSECT SELECT node FROM a ORDER BY 1
SELECT name FROM n EXCEPT SELECT node FROM a ORDER BY 1
SELECT node FROM a EXCEPT SELECT name FROM n ORDER BY 1
SELECT 1 UNION ALL SELECT 1 EXCEPT SELECT 2
SELECT 1 EXCEPT SELECT 1 UNION ALL SELECT 5
SELECT 1 UNION ALL SELECT 2 INTERSECT SELECT 2
SELECT NULL UNION SELECT NULL UNION SELECT 1 ORDER BY 1
SELECT 1, 'a' UNION SELECT 1, 'a' UNION SELECT 1, 'b' ORDER BY 2 DESC
SELECT ncpus AS c, name FROM n WHERE ncpus > 8 UNION ALL SELECT job, user FROM j ORDER BY c, name LIMIT 3 OFFSET 1
SELECT ncpus + 1 FROM n UNION SELECT job * 2 FROM j ORDER BY ncpus + 1
SELECT ncpus FROM n UNION SELECT job FROM j ORDER BY job
SELECT * FROM (SELECT name AS x FROM n UNION ALL SELECT node FROM a) WHERE x > 'n2' ORDER BY x
SELECT count(*) FROM (SELECT name FROM n UNION SELECT node FROM a)
SELECT name FROM n WHERE name IN (SELECT node FROM a UNION SELECT 'n5') ORDER BY name
SELECT EXISTS (SELECT 1 FROM n WHERE 0 UNION SELECT 2), (SELECT 3 UNION SELECT 1 ORDER BY 1)
SELECT 1 UNION SELECT 2 LIMIT 1
SELECT name, (SELECT count(*) FROM (SELECT 1 FROM a WHERE a.node = n.name UNION ALL SELECT 1 FROM a WHERE a.node = n.name)) FROM n ORDER BY 1
SELECT 1 AS x UNION SELECT 1.0 ORDER BY x
refused: SELECT 1 UNION SELECT 1, 2
refused: SELECT name FROM n UNION SELECT node FROM a ORDER BY ncpus
refused: SELECT name FROM n ORDER BY 1 UNION SELECT 'x'

-- VALUES
VALUES (1, 'a'), (2, 'b')
SELECT * FROM (VALUES (1, 2), (3, 4))
SELECT column2, column1 FROM (VALUES (1, 2), (3, 4)) AS v ORDER BY column1 DESC
SELECT v.column1, n.name FROM (VALUES ('n1'), ('n3')) v JOIN n ON n.name = v.column1 ORDER BY 1
SELECT name FROM n WHERE name IN (VALUES ('n1'), ('n2'), ('x')) ORDER BY 1
VALUES (1) UNION ALL SELECT 2
SELECT (VALUES (7)), (SELECT max(column1) FROM (VALUES (1), (9), (4)))
refused: VALUES (1, 2), (3)

-- WITH
WITH x AS (SELECT 1) SELECT * FROM x
WITH x(a, b) AS (SELECT 1, 2) SELECT b, a, x.a FROM x
WITH x AS (SELECT name, ncpus FROM n WHERE ncpus > 4) SELECT queue, count(*) FROM n JOIN x USING (name) GROUP BY queue ORDER BY 1
WITH x AS (SELECT ncpus FROM n), y AS (SELECT max(ncpus) AS m FROM x) SELECT n.name FROM n, y WHERE n.ncpus = y.m
WITH x AS (SELECT name FROM n) SELECT a.name, b.name FROM x a JOIN x b ON a.name < b.name ORDER BY 1, 2 LIMIT 4
WITH n AS (SELECT 'mine' AS name) SELECT name FROM n
WITH x AS (SELECT 1 AS v) SELECT (SELECT v FROM x) + (SELECT max(v) FROM x), v IN (SELECT v FROM x) FROM x
WITH x AS (WITH y AS (SELECT 2 AS w) SELECT w + 1 AS v FROM y) SELECT v FROM x
WITH x AS (SELECT 5 AS v) SELECT * FROM (SELECT v * 2 AS d FROM x) WHERE d > 3
WITH x AS (VALUES (1, 'a'), (2, 'b')) SELECT column2 FROM x ORDER BY column1 DESC
WITH b AS (SELECT v + 1 AS w FROM a2), a2 AS (SELECT 10 AS v) SELECT w FROM b
SELECT name, (WITH x AS (SELECT n.ncpus * 2 AS d) SELECT d FROM x) FROM n ORDER BY 1
WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 5) SELECT i FROM c
WITH RECURSIVE c(i) AS (VALUES (1) UNION ALL SELECT i * 2 FROM c LIMIT 6) SELECT group_concat(i) FROM c
WITH RECURSIVE c(i) AS (SELECT 1 UNION SELECT (i + 3) % 7 FROM c) SELECT i FROM c ORDER BY i
WITH c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 3) SELECT sum(i) FROM c
WITH RECURSIVE f(a, b) AS (SELECT 0, 1 UNION ALL SELECT b, a + b FROM f WHERE b < 50) SELECT a FROM f
WITH RECURSIVE t(d, x) AS (VALUES (0, 1) UNION ALL SELECT d + 1, x * 2 FROM t WHERE d < 2 UNION ALL SELECT d + 1, x * 2 + 1 FROM t WHERE d < 2) SELECT d, x FROM t ORDER BY d, x
WITH RECURSIVE t(d, x) AS (VALUES (0, 1) UNION ALL SELECT d + 1, x * 2 FROM t WHERE d < 2 ORDER BY 1 DESC) SELECT * FROM t
WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 3) SELECT x.i, y.i FROM c x, c y ORDER BY 1, 2
WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 4) SELECT n.name, c.i FROM n JOIN c ON n.ncpus = c.i * 4 ORDER BY 1, 2
WITH RECURSIVE r(job, n) AS (SELECT job, 1 FROM j WHERE job = 1 UNION ALL SELECT a.job + 1, n + 1 FROM r JOIN a ON a.job = r.job WHERE n < 4) SELECT * FROM r ORDER BY 1, 2
refused: WITH x AS (SELECT * FROM x) SELECT * FROM x
refused: WITH x(a) AS (SELECT 1, 2) SELECT * FROM x
refused: WITH x AS (SELECT 1), x AS (SELECT 2) SELECT * FROM x

-- window functions
SELECT row_number() OVER () FROM n
SELECT name, row_number() OVER (ORDER BY name) FROM n ORDER BY 1
SELECT name, rank() OVER (ORDER BY ncpus), dense_rank() OVER (ORDER BY ncpus), percent_rank() OVER (ORDER BY ncpus), cume_dist() OVER (ORDER BY ncpus) FROM n ORDER BY name
SELECT name, rank() OVER (PARTITION BY queue ORDER BY ncpus DESC) AS r FROM n ORDER BY queue, r, name
SELECT name, lag(name) OVER (ORDER BY name), lead(name) OVER (ORDER BY name), lag(name, 2, '-') OVER (ORDER BY name), lead(name, 0) OVER (ORDER BY name) FROM n ORDER BY name
SELECT name, first_value(name) OVER w, last_value(name) OVER w FROM n WINDOW w AS (PARTITION BY queue ORDER BY name) ORDER BY name
SELECT name, sum(ncpus) OVER (ORDER BY name), sum(ncpus) OVER (), count(*) OVER (PARTITION BY queue), avg(ncpus) OVER (PARTITION BY queue ORDER BY name) FROM n ORDER BY name
SELECT name, sum(ncpus) OVER (ORDER BY ncpus), count(mem) OVER (ORDER BY ncpus) FROM n ORDER BY name
SELECT name, sum(ncpus) OVER (ORDER BY name ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING), min(ncpus) OVER (ORDER BY name ROWS 2 PRECEDING), max(ncpus) OVER (ORDER BY name ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) FROM n ORDER BY name
SELECT name, last_value(ncpus) OVER (ORDER BY ncpus) FROM n ORDER BY name
SELECT name, sum(ncpus) OVER (ORDER BY name ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING), count(*) OVER (ORDER BY name ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING) FROM n ORDER BY name
SELECT name, sum(ncpus) FILTER (WHERE queue = 'q1') OVER (ORDER BY name) FROM n ORDER BY name
SELECT queue, count(*), sum(count(*)) OVER (ORDER BY queue), rank() OVER (ORDER BY count(*) DESC) FROM n GROUP BY queue ORDER BY queue
SELECT queue, sum(ncpus) * 100 / sum(sum(ncpus)) OVER () FROM n GROUP BY queue ORDER BY queue
SELECT name FROM n ORDER BY rank() OVER (ORDER BY ncpus DESC), name
SELECT name, r FROM (SELECT name, row_number() OVER (PARTITION BY queue ORDER BY ncpus DESC, name) AS r FROM n) WHERE r = 1 ORDER BY name
SELECT DISTINCT count(*) OVER (PARTITION BY queue) AS c FROM n ORDER BY c
SELECT ncpus + sum(ncpus) OVER (ORDER BY name) * 2, -row_number() OVER (ORDER BY name) FROM n ORDER BY name
SELECT n.name, a.job, row_number() OVER (PARTITION BY n.name ORDER BY a.job) FROM n LEFT JOIN a ON a.node = n.name ORDER BY 1, 2
SELECT name, sum(ncpus) OVER (w ROWS 1 PRECEDING), count(*) OVER w2 FROM n WINDOW w AS (PARTITION BY queue ORDER BY name), w2 AS (w) ORDER BY name
SELECT row_number() OVER (ORDER BY name) AS r, name FROM n WHERE ncpus > 4 ORDER BY r LIMIT 2
SELECT count(*) OVER () FROM n WHERE 0
SELECT name, (SELECT count(*) OVER () FROM a WHERE a.node = n.name LIMIT 1) FROM n ORDER BY name
SELECT max(ncpus) OVER (PARTITION BY queue) - ncpus AS d, name FROM n ORDER BY d, name
refused: SELECT name FROM n WHERE row_number() OVER () = 1
refused: SELECT sum(row_number() OVER ()) FROM n
refused: SELECT sum(DISTINCT ncpus) OVER () FROM n
refused: SELECT rank() FROM n
refused: SELECT abs(1) OVER () FROM n
refused: SELECT sum(ncpus) OVER nosuch FROM n
refused: SELECT sum(ncpus) OVER (ROWS -1 PRECEDING) FROM n
refused: SELECT sum(ncpus) OVER (ORDER BY name ROWS BETWEEN CURRENT ROW AND 1 PRECEDING) FROM n

-- bare columns
SELECT name FROM n GROUP BY queue
SELECT name, count(*) FROM n
SELECT max(ncpus), name FROM n
SELECT min(ncpus), name, mem FROM n
SELECT queue, name, max(ncpus) FROM n GROUP BY queue ORDER BY queue
SELECT queue, name, min(load) FROM n GROUP BY queue ORDER BY queue
SELECT queue, name, max(mem) FROM n GROUP BY queue ORDER BY queue
SELECT queue, name || '!', count(*) FROM n GROUP BY queue ORDER BY 2
SELECT name, max(ncpus) FROM n WHERE 0
SELECT queue, ncpus FROM n GROUP BY queue HAVING ncpus > 8 ORDER BY queue
SELECT queue, (SELECT max(job) FROM a WHERE a.node = n.name) FROM n GROUP BY queue ORDER BY 1

-- IN a table
SELECT name FROM n WHERE name IN (SELECT node FROM a) AND 1 IN (SELECT job FROM j) ORDER BY 1
WITH x AS (SELECT 'n1' AS v UNION SELECT 'n3') SELECT name FROM n WHERE name IN x ORDER BY 1
WITH x AS (SELECT 'n1' AS v) SELECT name FROM n WHERE name NOT IN x ORDER BY 1

-- JSON
SELECT json_array(1, 2.5, 'a"b', NULL, TRUE), json_array(), json_object('a', 1, 'b', 'x'), json_object()
SELECT json_array(json_array(1), json_object('k', json_array(2, '[3]')), '[4]', json('{"a" : 1}'))
SELECT json_group_array(name), json_group_array(mem), json_group_array(load) FROM n
SELECT queue, json_group_array(name) FROM n GROUP BY queue ORDER BY 1
SELECT json_group_object(name, ncpus) FROM n
SELECT json_group_array(json_object('n', name, 'c', ncpus)) FROM n
SELECT json_object('all', (SELECT json_group_array(job) FROM j), 'x', 1)
SELECT json_array('tab	x', 'nl' || char(10), 'ä€', char(1)), json_valid('{"a":1}'), json_valid('{a}'), json('[1, 2]')
SELECT json_group_array(name) FROM n WHERE 0
SELECT json_group_array(name ORDER BY name DESC) FROM n
refused: SELECT json_object('a')
refused: SELECT json_object(1, 2)

SELECT upper(name) FROM n UNION SELECT upper(tag) FROM n

-- what the columns of queries, views and WITH compare with
SELECT p FROM (SELECT tag AS p FROM n) WHERE p = 'B' ORDER BY p, 1
SELECT p FROM (SELECT tag AS p FROM n) WHERE 'B' = p AND +p = 'b' AND CAST(p AS TEXT) = 'B' AND p || '' = 'b'
SELECT p, n.tag FROM (SELECT tag AS p FROM n), n WHERE n.tag = p
SELECT p, n.tag FROM (SELECT tag AS p FROM n), n WHERE p = n.tag
SELECT name FROM n WHERE (SELECT tag) = 'B'
SELECT tag IN (SELECT tag FROM n WHERE tag = 'b'), 'B' IN (SELECT tag FROM n WHERE tag = 'b'), tag IN (SELECT tag FROM n WHERE tag = 'b') FROM n
SELECT tag IN (SELECT p FROM (SELECT tag AS p FROM n WHERE tag = 'b')), 'B' IN (SELECT p FROM (SELECT tag AS p FROM n WHERE tag = 'b')) FROM n
SELECT p IN ('B'), p BETWEEN 'B' AND 'B', p IS 'B', nullif(p, 'B'), max(p, 'Z'), min('a', p), CASE p WHEN 'B' THEN 1 END, p LIKE 'B', p GLOB 'B' FROM (SELECT tag AS p FROM n)
SELECT lower(p), count(*), count(DISTINCT p) FROM (SELECT tag AS p FROM n UNION ALL SELECT upper(tag) FROM n) GROUP BY p ORDER BY 1
SELECT lower(p), count(*) FROM (SELECT tag AS p FROM n) GROUP BY +p HAVING p = 'B' ORDER BY 1
SELECT p, row_number() OVER (PARTITION BY p ORDER BY name), rank() OVER (ORDER BY p), max(p) OVER (PARTITION BY p ORDER BY name) = 'B' FROM (SELECT tag AS p, name FROM n)
SELECT tag, row_number() OVER (PARTITION BY tag ORDER BY name), count(*) OVER (PARTITION BY tag) FROM n
SELECT tag, count(*) OVER (PARTITION BY tag ORDER BY ncpus) FROM n
SELECT max(tag) = 'B', min(tag) = '7', max(tag) = 'B' FROM n WHERE ncpus = 16
SELECT count(*) FROM (SELECT max(tag) AS q FROM n WHERE tag = 'B') WHERE q = 'b'
SELECT count(*) FROM (SELECT max(p) AS q FROM (SELECT tag AS p FROM n WHERE tag = 'B')) WHERE q = 'b'
SELECT count(*) FROM (SELECT first_value(tag) OVER (ORDER BY name) AS q FROM n WHERE tag = 'B') WHERE q = 'b'
SELECT count(*) FROM (SELECT first_value(p) OVER (ORDER BY name) AS q FROM (SELECT tag AS p, name FROM n WHERE tag = 'B')) WHERE q = 'b'
SELECT count(*) FROM (SELECT p AS q FROM (SELECT tag AS p FROM n)) WHERE q = 'B'
SELECT count(*) FROM (SELECT coalesce(p, '') AS q FROM (SELECT tag AS p FROM n)) WHERE q = 'B'
SELECT count(*) FROM (SELECT CASE WHEN 1 THEN tag END AS q FROM n) WHERE q = 'B'
SELECT count(*) FROM (SELECT tag, count(*) AS c FROM (SELECT tag AS tag, queue FROM n) GROUP BY queue HAVING tag = 'A')
SELECT count(*) FROM (SELECT tag AS x FROM n) l LEFT JOIN (SELECT tag AS x FROM n) r USING (x) WHERE x = 'B'
WITH c AS (SELECT tag AS p FROM n) SELECT count(*), count(DISTINCT u.p) FROM c u JOIN c v ON u.p = v.p
WITH c(p) AS (SELECT tag FROM n UNION ALL SELECT 'q') SELECT count(*) FROM c u JOIN c v ON u.p = v.p
WITH RECURSIVE c(p, i) AS (SELECT 'a', 1 UNION SELECT upper(p), 1 FROM c) SELECT * FROM c
WITH RECURSIVE c(p, i) AS (SELECT 'a', 1 UNION SELECT upper(p), i + 1 FROM c WHERE p = 'A' AND i < 3) SELECT * FROM c
WITH RECURSIVE c(p, i) AS (SELECT tag, 1 FROM n UNION ALL SELECT p, i + 1 FROM c WHERE i < 2 ORDER BY 1 DESC, 2 LIMIT 5) SELECT lower(p), i FROM c
SELECT * FROM (VALUES ('a'), ('A')) WHERE column1 = 'A' ORDER BY column1
SELECT * FROM (VALUES ('a'), ('b')) WHERE column1 = 'A'
SELECT count(*) FROM (SELECT tag AS p FROM n UNION SELECT upper(tag) FROM n)
SELECT count(*) FROM (SELECT tag AS p FROM n INTERSECT SELECT upper(tag) FROM n)
SELECT count(*) FROM (SELECT tag AS p FROM n EXCEPT SELECT upper(tag) FROM n)
SELECT count(*) FROM (SELECT tag AS p FROM n UNION ALL SELECT 'B') WHERE p = 'b'
SELECT lower(p) FROM (SELECT tag AS p FROM n UNION ALL SELECT 'C') ORDER BY p DESC
SELECT DISTINCT lower(p) FROM (SELECT DISTINCT p FROM (SELECT tag AS p FROM n)) ORDER BY 1
SELECT group_concat(DISTINCT p ORDER BY p) IS NOT NULL FROM (SELECT tag AS p FROM n)

-- every word of strftime
SELECT strftime('%d %e %f %F %g %G %H %I %j %J %k %l %m %M %p %P %R %s %S %T %u %U %V %w %W %Y %%', '2024-12-30 13:05:09.25')
WITH RECURSIVE d(t) AS (SELECT 1700000000 UNION ALL SELECT t + 86400 * 11 + 4999 FROM d WHERE t < 1950000000) SELECT group_concat(strftime('%g %G %I %J %k %l %p %P %U %V %W', t, 'unixepoch'), ';') FROM d
SELECT strftime('%G-%V %U', '2021-01-01'), strftime('%G-%V %U', '2020-12-31'), strftime('%G-%V %U', '2023-01-01'), strftime('%I %l %p', '2023-01-01 00:30'), strftime('%I %l %P', '2023-01-01 12:30')
SELECT printf('%z %5z|%-5z|%.1z', 1, 'ab', 'ab', 'ab'), printf('%z', NULL)
