-- Statements that package query must answer as SQLite does, one a line. Those with an
-- ORDER BY at their end are compared in order. "refused:" marks what it must refuse.

-- numbers
SELECT 1, -1, +1, 1.5, .5, 5., 1e3, 1E-2, 0x1F, 9223372036854775807, 9223372036854775808, -9223372036854775808
SELECT 7/2, -7/2, 7/-2, 7%3, -7%3, 7%-3, 7.0/2, 7/2.0, 7.5%2, 1/0, 1.0/0, 1%0, 0/1
SELECT 9223372036854775807+1, -9223372036854775808-1, 9223372036854775807*2, -9223372036854775808/-1, -(-9223372036854775808), -9223372036854775808%-1
SELECT 4611686018427387904*2, 4611686018427387904*-2, 3037000500*3037000500, -9223372036854775808*-1
SELECT 1+NULL, NULL-1, NULL*0, NULL/1, NULL%1, -NULL, ~NULL, NULL||'a', NULL&1, NULL<<1
SELECT '3'+4, '3x'+4, 'x'+4, '3.5'*2, ' 4 '+1, '1e2'+0, '0x10'+0, ''+1, '.'+1, '-'+1, '+5'+0, '5e'+0
SELECT 6&3, 6|3, 1<<3, -8>>1, 1<<64, 1<<63, -1>>64, 1<<-1, ~5, ~-1, 5.9&7, '6'&'3', 1<<1000, -1>>1000
SELECT 0.1+0.2, 1e15, 1e16, 123456789012345678, 1.0, 100.0, 1e100, -1e-5, 0.0001, 0.00001, 1e14+0.5
SELECT 0.1+0.2||'', 1e15||'', 1e16||'', 1.0||'', 1e100||'', 1e-5||'', 1/3.0||'', 2/3.0||'', 1e21||'', -0.0||'', 123456.789e3||''
SELECT 4.25*9223372036854775807||'', 8558708005542270/70368744177664.0||'', 7344957575869236/549755813888.0||'', 49.47||'', 1e18*1.0698591618627605||'', 0.1*3||'', 100.57066381156316||'', 123456789012345678.0||''
SELECT 1.1||'', 2.2||'', 3.3||'', 1e22||'', 1e23||'', 1.7976931348623157e308||'', 9007199254740993.0||'', 0.3||'', 100000.0||''
SELECT 9e999, -9e999, 9e999-9e999, 9e999||'', -9e999||'', 9e999*0
SELECT 1 = 1.0, 1 = '1', 1.0 = '1.0', 'a' = 'A', 1 < 'a', 2 > '1', NULL = NULL, NULL <> 1, 9007199254740993 = 9007199254740992.0
SELECT 1 <> 2, 1 != 1, 1 == 1, 3 <= 3, 3 >= 4, 'a' < 'b', 'B' < 'a', '10' < '9', 10 < 9, '' < 'a'
SELECT 1 IS 1, 1 IS NULL, NULL IS NULL, NULL IS NOT NULL, 1 IS NOT 2, 'a' IS 'a', 1 IS '1', 1 IS DISTINCT FROM 2, NULL IS NOT DISTINCT FROM NULL
SELECT 1 IS TRUE, 2 IS TRUE, 0 IS FALSE, NULL IS TRUE, NULL IS NOT TRUE, 'a' IS FALSE, '1' IS TRUE, 0.5 IS TRUE, NULL IS FALSE, NULL IS NOT FALSE
SELECT TRUE, FALSE, TRUE + TRUE, NOT TRUE, NOT 0, NOT NULL, NOT 'a', NOT '1', NOT 0.0, NOT 2

-- three-valued logic
SELECT NULL AND 0, NULL AND 1, 0 AND NULL, 1 AND NULL, NULL OR 0, NULL OR 1, 0 OR NULL, 1 OR NULL, NOT (NULL AND 0), NULL AND NULL
SELECT 1 IN (1,2), 3 IN (1,2), NULL IN (1,2), 1 IN (NULL,1), 3 IN (NULL,1), NULL IN (NULL), 3 NOT IN (1,NULL), 3 NOT IN (1,2), 1 NOT IN (1,NULL)
SELECT 1 IN (), NULL IN (), 1 NOT IN (), 1 IN ('1'), '1' IN (1), 1.0 IN (1), 'a' IN ('A','a')
SELECT 2 BETWEEN 1 AND 3, 2 NOT BETWEEN 1 AND 3, NULL BETWEEN 1 AND 2, 2 BETWEEN NULL AND 1, 2 BETWEEN NULL AND 3, 2 BETWEEN 3 AND NULL, 2 NOT BETWEEN 3 AND NULL
SELECT CASE WHEN NULL THEN 1 ELSE 2 END, CASE WHEN 1 THEN 'a' END, CASE WHEN 0 THEN 'a' END, CASE NULL WHEN NULL THEN 1 ELSE 2 END, CASE 1 WHEN 1.0 THEN 'x' END, CASE 'a' WHEN 'A' THEN 1 WHEN 'a' THEN 2 END
SELECT name FROM n WHERE mem > 100 OR mem IS NULL ORDER BY name
SELECT name FROM n WHERE NOT mem > 100 ORDER BY name
SELECT name FROM n WHERE mem NOT IN (64, NULL) ORDER BY name
SELECT name FROM n WHERE mem IN (64, NULL) ORDER BY name
SELECT name FROM n WHERE NOT (mem = 64 AND queue = 'q1') ORDER BY name
SELECT name FROM n WHERE NOT (mem = 64 OR queue = 'q1') ORDER BY name
SELECT name, mem = 64, queue <> 'q1', mem = 64 AND queue <> 'q1', mem = 64 OR queue <> 'q1' FROM n ORDER BY name
SELECT count(*) FROM n WHERE NULL
SELECT count(*) FROM n WHERE 'a'
SELECT count(*) FROM n WHERE '1a'
SELECT count(*) FROM n WHERE 0.5

-- text
SELECT 'it''s', '', 'a'||'b'||1||2.0, 1||1, 'Ä'||'ö', length('Äö'), length(''), length(123), length(1.5), length(NULL)
SELECT upper('aÄz1'), lower('AÄZ1'), upper(NULL), upper(12), lower(1e20)
SELECT substr('hello',2), substr('hello',2,3), substr('hello',-3), substr('hello',-3,2), substr('hello',0), substr('hello',0,2), substr('hello',10), substr('hello',2,-1), substr('hello',3,-5), substr('hello',-10,7)
SELECT substr('hello',1,0), substr('hello',-1,1), substr('hello',NULL), substr(NULL,1), substr(12345,2,2), substr('äöü',2,1), substring('hello',2,2), substr('hello',2.9), substr('hello','2')
SELECT trim('  a '), ltrim('  a '), rtrim('  a '), trim('xxaxx','x'), ltrim('xyxa','yx'), rtrim('axyx','xy'), trim('abc',''), trim(NULL), trim('a',NULL), trim(12)
SELECT replace('hello','l','L'), replace('hello','','x'), replace('hello','l',''), replace('aaa','aa','b'), replace(NULL,'a','b'), replace('a',NULL,'b'), replace('a','a',NULL), replace(121,2,3), replace('x','',NULL)
SELECT instr('hello','l'), instr('hello','z'), instr('hello',''), instr('','a'), instr(NULL,'a'), instr('a',NULL), instr(123,2), instr('äöü','ü')
SELECT 'abc' LIKE 'ABC', 'abc' LIKE 'a%', 'abc' LIKE '_b_', 'abc' LIKE '%c', 'abc' LIKE '%b%', 'abc' LIKE 'ab', '' LIKE '%', '' LIKE '_', 'ÄB' LIKE 'äb', 'a%' LIKE 'a!%' ESCAPE '!'
SELECT 'ab' LIKE 'a!%' ESCAPE '!', '10%' LIKE '10\%' ESCAPE '\', 'a_c' LIKE 'a!_c' ESCAPE '!', 'abc' LIKE 'a!_c' ESCAPE '!', NULL LIKE 'a', 'a' LIKE NULL, 12 LIKE '1%', 'a' NOT LIKE 'b', 1.5 LIKE '1.5'
SELECT 'abc' GLOB 'a*', 'abc' GLOB 'A*', 'abc' GLOB 'a?c', 'abc' GLOB '[a-c]bc', 'abc' GLOB '[^a]bc', 'a*c' GLOB 'a[*]c', 'a]c' GLOB 'a[]]c', 'a-c' GLOB 'a[a-]c', 'abc' NOT GLOB 'x*', 'a' GLOB '[', NULL GLOB '*'
SELECT 'abc' GLOB '[a-', 'b' GLOB '[a-c', 'b' GLOB '[]', '^' GLOB '[^^]', 'x' GLOB '[^^]', '' GLOB '', '' GLOB '*', 'ab' GLOB '*b*', 'node12' GLOB 'node[0-9][0-9]'
SELECT 'a' = 'A', 'a' = 'A', 'a ' = 'a', 'a' < 'B', 'a' = 'A', 'b' BETWEEN 'A' AND 'C'
SELECT typeof(1), typeof(1.0), typeof('a'), typeof(NULL), typeof(1/2), typeof(1/2.0), typeof(1+'2'), typeof(1||2), typeof(9223372036854775807+1), typeof('1'+1.0)
SELECT quote(1), quote(1.5), quote('a''b'), quote(NULL), quote(0.1), quote(1e100), quote(-0.0)
SELECT coalesce(NULL,1), coalesce(NULL,NULL), coalesce('a',1), ifnull(NULL,'x'), ifnull(1,2), nullif(1,1), nullif(1,2), nullif(1,1.0), nullif('a','A'), nullif(NULL,1), nullif(1,NULL), nullif(1,'1')
SELECT min(1,2), max(1,2), min(1,'a'), max(1,'a'), min(1,NULL), max(NULL,1), min('b','a','c'), max(1,1.0), min(1,1.0), max(1.0,1), iif(1,2,3), iif(NULL,2,3), iif(0,2,3)
SELECT abs(-5), abs(5), abs(-1.5), abs('-3'), abs('x'), abs(NULL), abs(-9223372036854775807), sign(-3), sign(0), sign(2.5), sign('x'), sign('3'), sign(NULL)
SELECT round(2.5), round(-2.5), round(0.5), round(1.5), round(2.4), round(1.005,2), round(2.675,2), round(-1.25,1), round(1234.5678,-2), round(1e20,2), round('3.7'), round('x'), round(NULL), round(1,NULL), round(7)
SELECT round(0.285,2), round(1.115,2), round(123.456,1), round(99.995,2), round(0.05,1), round(-0.4), round(4503599627370496.5), round(0.1234567891234567,10), round(5,2), round(1.45,1), round(8.345,2)

-- casts and affinity
SELECT CAST('12abc' AS INTEGER), CAST('abc' AS INTEGER), CAST(12.9 AS INTEGER), CAST(-12.9 AS INTEGER), CAST('1e3' AS INTEGER), CAST(9e99 AS INTEGER), CAST(-9e99 AS INTEGER), CAST('9223372036854775808' AS INTEGER), CAST(NULL AS INTEGER), CAST(' 12' AS INTEGER)
SELECT CAST('12.5abc' AS REAL), CAST('abc' AS REAL), CAST(12 AS REAL), CAST('1e3' AS REAL), CAST(NULL AS REAL), CAST('.5' AS REAL), CAST('-' AS REAL)
SELECT CAST('12.0' AS NUMERIC), CAST('12.5' AS NUMERIC), CAST('abc' AS NUMERIC), CAST(12.0 AS NUMERIC), CAST('1e3' AS NUMERIC), CAST('12abc' AS NUMERIC), CAST('9223372036854775808' AS NUMERIC), CAST(NULL AS NUMERIC)
SELECT CAST(12 AS TEXT), CAST(1.5 AS TEXT), CAST(1e20 AS TEXT), CAST('a' AS TEXT), CAST(NULL AS TEXT), CAST(12 AS VARCHAR), CAST(1.0 AS TEXT), CAST('5' AS INT), CAST('5' AS BIGINT)
SELECT CAST('1' AS INTEGER) = '1', '1' = 1, CAST(1 AS TEXT) = 1, CAST(1 AS TEXT) = '1', CAST('1' AS INTEGER) IN ('1'), '1' IN (CAST(1 AS INTEGER))
SELECT name FROM n WHERE ncpus = '16' ORDER BY name
SELECT name FROM n WHERE ncpus > '9' ORDER BY name
SELECT name FROM n WHERE +ncpus = '16' ORDER BY name
SELECT name FROM n WHERE '16' = ncpus ORDER BY name
SELECT name FROM n WHERE ncpus IN ('16', 8.0) ORDER BY name
SELECT name FROM n WHERE load = '0.5' ORDER BY name
SELECT name FROM n WHERE load > 'a' ORDER BY name
SELECT name FROM n WHERE name > 5 ORDER BY name
SELECT name FROM n WHERE tag = 7 ORDER BY name
SELECT name FROM n WHERE tag = 7.0 ORDER BY name
SELECT name FROM n WHERE tag + 0 = 7 ORDER BY name
SELECT name FROM n WHERE tag = ncpus - 1 ORDER BY name
SELECT name FROM n WHERE tag = ncpus ORDER BY name
SELECT name FROM n WHERE CAST(tag AS INTEGER) = ncpus - 1 ORDER BY name
SELECT name FROM n WHERE tag BETWEEN 1 AND 7 ORDER BY name
SELECT name FROM n WHERE ncpus BETWEEN '4' AND '8' ORDER BY name
SELECT name FROM n WHERE ncpus LIKE '1%' ORDER BY name
SELECT name FROM n WHERE load LIKE '0.%' ORDER BY name

-- printf
SELECT printf('%d %5d|%-5d|%05d|%+d|% d', 42, 42, 42, 42, 42, 42), printf('%d', '12x'), printf('%d', 3.9), printf('%d', NULL), printf('%i', -7), printf('%,d', 1234567), printf('%,d', -123)
SELECT printf('%f %.2f %8.3f|%-8.1f|%08.2f', 3.14159, 3.14159, 3.14159, 3.14159, 3.14159), printf('%.0f', 2.5), printf('%.0f', 3.5), printf('%f', 'x'), printf('%.3f', 1e10), printf('%+.1f', 2), printf('%.2f', -0.001)
SELECT printf('%e', 12345.678), printf('%.2e', 0.00012), printf('%g', 0.0001), printf('%g', 123456789.0), printf('%g', 100000.0), printf('%g', 1000000.0), printf('%.3g', 3.14159), printf('%E', 1.5), printf('%G', 1e-10), printf('%e', 0.0), printf('%g', 0.0)
SELECT printf('%s|%5s|%-5s|%.2s|%s', 'ab', 'ab', 'ab', 'abcdef', 12), printf('%s', NULL), printf('%s', 1.5), printf('%c%c', 'xyz', 'q'), printf('%%'), printf('100%'), printf('%5%'), printf('a%')
SELECT printf('%x %X %o %#x', 255, 255, 8, 255), printf('%08x', 48879), printf('%x', -1), printf('%u', 5), printf('%q', 'it''s'), printf('%Q', 'it''s'), printf('%Q', NULL), printf('%w', 'a"b'), printf('%*d', 6, 42), printf('%-*d|', 6, 42), printf('%.*f', 2, 1.239)
SELECT printf('no args'), printf('%d'), printf('%s'), printf('%d %d', 1), printf(NULL), printf(''), printf('%ld %lld', 5, 6), format('%d', 7), printf('%.10f', 0.1), printf('%.20f', 0.1), printf('%.15g', 0.1), printf('%!.5f|%!g|%!.3e', 2, 2, 2)
SELECT printf('%+ d|% +d|%-05d|%#08x|%u|%,g|%!.0f|%.25G|%.2Q|%,e', 1, 1, 7, 255, -1, 1e17, 2, 1e17, NULL, 12345), length(printf('%,0600000d', 1)), quote(9e999), json_array(-9e999)
SELECT substr('abc',-2147483649), substr('abc',-2147483649,2147483650), substr('abc',9223372036854775807,-9223372036854775807), substr('abc',-9223372036854775807-1,9223372036854775807)

-- dates
SELECT date('2024-02-29'), time('12:34:56'), datetime('2024-02-29 12:34:56'), date('2024-02-30'), date('2024-13-01'), date('x'), date(NULL), datetime('2024-02-29T12:34'), time('12:34'), date('2024-2-3')
SELECT date('2024-01-31','+1 month'), date('2024-01-31','+1 months'), date('2023-01-31','+1 month'), date('2024-02-29','+1 year'), date('2024-02-29','-1 day'), datetime('2024-01-01','+90 minutes'), datetime('2024-01-01','+1.5 hours'), datetime('2024-01-01','-1 second'), date('2024-12-31','+1 days')
SELECT date('2024-05-15','start of month'), date('2024-05-15','start of year'), datetime('2024-05-15 10:11:12','start of day'), date('2024-05-15','start of month','+1 month','-1 day'), date('2024-05-15','weekday 0'), date('2024-05-15','weekday 3'), date('2024-05-15','weekday 2'), date('2024-05-15','weekday 9')
SELECT unixepoch('2024-01-01'), unixepoch('1970-01-01 00:00:01'), unixepoch('1969-12-31'), datetime(0,'unixepoch'), datetime(1700000000,'unixepoch'), datetime(1700000000.9,'unixepoch'), date(1700000000,'unixepoch'), datetime('1700000000','unixepoch'), datetime(-1,'unixepoch')
SELECT date(2460000), datetime(2460000.5), date(2460000.25), julianday('2024-01-01'), julianday('2024-01-01 12:00'), date(-1), date(99999999), datetime(1700000000)
SELECT strftime('%Y-%m-%d %H:%M:%S', '2024-02-29 01:02:03.456'), strftime('%f', '2024-02-29 01:02:03.456'), strftime('%j', '2024-12-31'), strftime('%w %u', '2024-05-12'), strftime('%W', '2024-01-07'), strftime('%W', '2024-01-08'), strftime('%s', '2024-01-01'), strftime('%%', '2024-01-01'), strftime('%F %T %R', '2024-01-02 03:04:05')
SELECT datetime('2024-01-01 00:00:00+02:00'), datetime('2024-01-01 00:00:00-02:30'), datetime('2024-01-01 00:00:00Z'), datetime('2024-01-01 00:00:00 +01:00'), time('24:00'), time('12:60'), datetime('2024-01-01','+1 fortnight'), datetime('2024-01-01','1 day'), datetime('2024-01-01','+1 day','+1 hour')
SELECT strftime('%Y', '0000-01-01'), date('9999-12-31'), date('9999-12-31','+1 day'), date('0000-01-01','-1 day'), date('2024-01-31','+1.5 months'), date('2000-01-01','+36525 days'), date('1900-03-01','-1 day'), strftime('%e|%d', '2024-01-05')
SELECT date('2024-01-01','+1day'), date('2024-01-01','.5 days'), date('9999-12-31','+1 day','-1 day'), date('2024-01-31','-2025 years'), date('-2024-01-01'), time('24:01'), datetime('24:00'), time('10:00:00.9999'), date('2024-01-01','10000 years'), date(' now')
SELECT date('2023-02-31','start of month'), date('2023-02-29','+1 month'), date('2023-02-30','start of year'), date('2023-02-31','+1 day'), strftime('%s', 0.5), date('2024-01-01','99999999999 seconds','-99999999999 seconds')

-- selecting
SELECT * FROM n ORDER BY name
SELECT n.* FROM n ORDER BY name
SELECT name AS x, ncpus*2 y, ncpus "a b" FROM n ORDER BY x
SELECT name x FROM n WHERE x = 'n2'
SELECT ncpus * 2 AS twice FROM n WHERE twice > 16 ORDER BY twice, name
SELECT 1 WHERE 1
SELECT 1 WHERE 0
SELECT 1 AS a, 2 AS b ORDER BY b
SELECT DISTINCT queue FROM n ORDER BY queue
SELECT DISTINCT queue, ncpus FROM n ORDER BY 1, 2
SELECT DISTINCT mem FROM n ORDER BY mem DESC
SELECT ALL queue FROM n ORDER BY queue
SELECT name FROM n LIMIT 0
SELECT name FROM n ORDER BY name LIMIT 2
SELECT name FROM n ORDER BY name LIMIT 2 OFFSET 3
SELECT name FROM n ORDER BY name LIMIT 3, 2
SELECT name FROM n ORDER BY name LIMIT -1 OFFSET 4
SELECT name FROM n ORDER BY name LIMIT -5
SELECT name FROM n ORDER BY name LIMIT 2 OFFSET -3
SELECT name FROM n ORDER BY name LIMIT 1+1
SELECT name FROM n ORDER BY name LIMIT '2'
SELECT name FROM n ORDER BY name DESC LIMIT 100
SELECT name, mem FROM n ORDER BY mem, name
SELECT name, mem FROM n ORDER BY mem DESC, name
SELECT name, mem FROM n ORDER BY mem NULLS LAST, name
SELECT name, mem FROM n ORDER BY mem DESC NULLS FIRST, name
SELECT name, mem FROM n ORDER BY 2, 1 DESC
SELECT name, mem FROM n ORDER BY +2, - -1 DESC
SELECT name FROM n ORDER BY ncpus % 3, name
SELECT name FROM n ORDER BY -ncpus, name
SELECT name AS z FROM n ORDER BY z DESC
SELECT name AS ncpus FROM n ORDER BY ncpus
SELECT name, ncpus + 1 AS p FROM n ORDER BY p + 1, name
SELECT tag FROM n ORDER BY tag, tag
SELECT name FROM n ORDER BY queue IS NULL, queue, name
SELECT name FROM n ORDER BY CASE queue WHEN 'q2' THEN 0 ELSE 1 END, name
SELECT [name], `ncpus`, "queue" FROM n ORDER BY [name]
SELECT N.NAME FROM n ORDER BY Name
SELECT name end FROM n ORDER BY end
SELECT "end", start FROM a ORDER BY "end", job, node
SELECT end FROM a ORDER BY end

-- joins
SELECT n.name, a.job FROM n JOIN a ON a.node = n.name ORDER BY 1, 2
SELECT n.name, a.job FROM n INNER JOIN a ON a.node = n.name WHERE n.ncpus > 4 ORDER BY 1, 2
SELECT n.name, a.job FROM n, a WHERE a.node = n.name ORDER BY 1, 2
SELECT count(*) FROM n, a
SELECT count(*) FROM n CROSS JOIN a
SELECT n.name, a.job FROM n LEFT JOIN a ON a.node = n.name ORDER BY 1, 2
SELECT n.name, a.job FROM n LEFT OUTER JOIN a ON a.node = n.name AND a.job > 1 ORDER BY 1, 2
SELECT n.name, a.job FROM n LEFT JOIN a ON a.node = n.name WHERE a.job > 1 ORDER BY 1, 2
SELECT n.name, a.job FROM n LEFT JOIN a ON a.node = n.name WHERE a.job IS NULL ORDER BY 1
SELECT n.name, a.job FROM n LEFT JOIN a ON a.node = n.name AND n.ncpus > 8 ORDER BY 1, 2
SELECT n.name, a.job FROM n LEFT JOIN a ON 0 ORDER BY 1
SELECT n.name, a.job FROM n LEFT JOIN a ON 1 ORDER BY 1, 2
SELECT n.name, x.node FROM n LEFT JOIN e AS x ON x.node = n.name ORDER BY 1
SELECT x.node, n.name FROM e AS x LEFT JOIN n ON x.node = n.name ORDER BY 1
SELECT a.job, a.node, j.user FROM a JOIN j USING (job) ORDER BY 1, 2
SELECT * FROM a JOIN j USING (job) ORDER BY 1, 2
SELECT job, user FROM j LEFT JOIN a USING (job) ORDER BY job, user, node
SELECT job, a.job, j.job FROM j LEFT JOIN a USING (job) ORDER BY 3, 2, a.node
SELECT * FROM j LEFT JOIN a USING (job) ORDER BY 1, node
SELECT j.user, n.queue, count(*) FROM j JOIN a USING (job) JOIN n ON n.name = a.node GROUP BY 1, 2 ORDER BY 1, 2
SELECT x.name, y.name FROM n x JOIN n y ON x.ncpus = y.ncpus AND x.name < y.name ORDER BY 1, 2
SELECT x.name, y.name FROM n x LEFT JOIN n y ON x.ncpus < y.ncpus AND x.queue = y.queue ORDER BY 1, 2
SELECT x.name, y.name FROM n x JOIN n y ON x.mem = y.mem ORDER BY 1, 2
SELECT x.name, y.name FROM n x LEFT JOIN n y ON x.mem IS y.mem ORDER BY 1, 2
SELECT n.name, j.user FROM n LEFT JOIN a ON a.node = n.name LEFT JOIN j ON j.job = a.job ORDER BY 1, 2
SELECT n.name, j.user FROM n LEFT JOIN a ON a.node = n.name LEFT JOIN j ON j.job = a.job AND j.user = 'ann' WHERE n.ncpus < 64 ORDER BY 1, 2
SELECT n.name, s.c FROM n LEFT JOIN (SELECT node, count(*) AS c FROM a GROUP BY node) s ON s.node = n.name ORDER BY 1
SELECT s.q, s.c FROM (SELECT queue AS q, count(*) AS c FROM n GROUP BY queue) AS s WHERE s.c > 1 ORDER BY 1
SELECT * FROM (SELECT name, ncpus FROM n ORDER BY ncpus DESC, name LIMIT 3) ORDER BY name
SELECT count(*) FROM (SELECT DISTINCT queue FROM n)
SELECT max(c) FROM (SELECT count(*) AS c FROM a GROUP BY node)
SELECT n.tag, m.ncpus FROM n JOIN n m ON n.tag = m.ncpus ORDER BY 1, 2, n.name, m.name
SELECT count(*) FROM n JOIN a ON n.ncpus = a.ncpus JOIN j ON j.job = a.job
SELECT a1.node FROM a a1, a a2 WHERE a1.node = a2.node AND a1.job <> a2.job ORDER BY 1

-- subqueries
SELECT name FROM n WHERE name IN (SELECT node FROM a) ORDER BY name
SELECT name FROM n WHERE name NOT IN (SELECT node FROM a) ORDER BY name
SELECT name FROM n WHERE name NOT IN (SELECT node FROM a WHERE job > 100) ORDER BY name
SELECT name FROM n WHERE mem IN (SELECT mem FROM n WHERE queue = 'q1') ORDER BY name
SELECT name FROM n WHERE mem NOT IN (SELECT mem FROM n WHERE queue = 'q2') ORDER BY name
SELECT name FROM n WHERE NULL IN (SELECT node FROM e) ORDER BY name
SELECT name FROM n WHERE NULL NOT IN (SELECT node FROM e) ORDER BY name
SELECT name FROM n WHERE tag IN (SELECT ncpus FROM n) ORDER BY name
SELECT name FROM n WHERE ncpus IN (SELECT tag FROM n) ORDER BY name
SELECT name FROM n WHERE EXISTS (SELECT 1 FROM a WHERE a.node = n.name) ORDER BY name
SELECT name FROM n WHERE NOT EXISTS (SELECT * FROM a WHERE a.node = n.name AND a.job = 2) ORDER BY name
SELECT name, (SELECT count(*) FROM a WHERE a.node = n.name) FROM n ORDER BY name
SELECT name, (SELECT job FROM a WHERE a.node = n.name ORDER BY job DESC LIMIT 1) FROM n ORDER BY name
SELECT name, (SELECT job FROM a WHERE a.node = n.name AND job > 100) FROM n ORDER BY name
SELECT (SELECT max(ncpus) FROM n), (SELECT name FROM n WHERE 0), (SELECT 1) + (SELECT 2)
SELECT name FROM n WHERE ncpus = (SELECT max(ncpus) FROM n) ORDER BY name
SELECT name FROM n WHERE ncpus > (SELECT avg(ncpus) FROM n) ORDER BY name
SELECT name FROM n o WHERE ncpus = (SELECT max(ncpus) FROM n i WHERE i.queue = o.queue) ORDER BY name
SELECT name FROM n o WHERE 1 < (SELECT count(*) FROM n i WHERE i.queue IS o.queue) ORDER BY name
SELECT queue, (SELECT count(*) FROM a JOIN n x ON x.name = a.node WHERE x.queue = n.queue) FROM n GROUP BY queue ORDER BY queue
SELECT EXISTS (SELECT 1), EXISTS (SELECT 1 WHERE 0), NOT EXISTS (SELECT NULL)
SELECT name FROM n WHERE (SELECT job FROM a WHERE a.node = n.name LIMIT 1) IS NULL ORDER BY name
SELECT j.user FROM j WHERE (SELECT sum(ncpus) FROM a WHERE a.job = j.job) > 4 ORDER BY 1
SELECT name FROM n WHERE ncpus IN (SELECT ncpus FROM a WHERE a.node = n.name) ORDER BY name
SELECT name FROM n WHERE EXISTS (SELECT 1 FROM a WHERE a.node = n.name AND EXISTS (SELECT 1 FROM j WHERE j.job = a.job AND j.user = 'ann')) ORDER BY name
SELECT CASE WHEN EXISTS (SELECT 1 FROM e) THEN 'some' ELSE 'none' END
SELECT (SELECT queue FROM n WHERE name = 'n1') = 'Q1'

-- grouping
SELECT count(*), count(mem), count(DISTINCT queue), count(1), count(NULL), count() FROM n
SELECT sum(ncpus), sum(mem), avg(ncpus), avg(load), total(mem), min(mem), max(mem), min(name), max(name) FROM n
SELECT sum(load), total(load), avg(mem), sum(tag), avg(tag), min(tag), max(tag) FROM n
SELECT count(*), sum(job), avg(job), total(job), min(job), max(job), group_concat(job) FROM e
SELECT queue, count(*) FROM n GROUP BY queue ORDER BY queue
SELECT queue, count(*) AS c FROM n GROUP BY queue HAVING c > 1 ORDER BY queue
SELECT queue, count(*) FROM n GROUP BY queue HAVING count(*) = 1 ORDER BY 1
SELECT queue, sum(ncpus) FROM n GROUP BY queue ORDER BY sum(ncpus) DESC, queue
SELECT queue, sum(ncpus) s FROM n GROUP BY 1 ORDER BY s, 1
SELECT queue AS q, max(mem) FROM n GROUP BY q ORDER BY q
SELECT ncpus % 3 AS r, count(*) FROM n GROUP BY r ORDER BY r
SELECT ncpus % 3, count(*) FROM n GROUP BY ncpus % 3 ORDER BY 1
SELECT ncpus % 3 + 1, count(*) FROM n GROUP BY ncpus % 3 ORDER BY 1
SELECT queue, ncpus, count(*) FROM n GROUP BY queue, ncpus ORDER BY 1, 2
SELECT mem, count(*) FROM n GROUP BY mem ORDER BY mem
SELECT count(*) FROM n GROUP BY queue ORDER BY 1
SELECT queue FROM n GROUP BY queue ORDER BY queue DESC
SELECT upper(queue), count(*) FROM n GROUP BY upper(queue) ORDER BY 1
SELECT count(*) FROM e GROUP BY job
SELECT count(*) FROM n HAVING count(*) > 100
SELECT count(*) FROM n HAVING count(*) > 1
SELECT sum(ncpus) FILTER (WHERE queue = 'q1'), count(*) FILTER (WHERE mem IS NULL), count(*) FROM n
SELECT queue, count(*) FILTER (WHERE ncpus > 8) FROM n GROUP BY queue ORDER BY 1
SELECT sum(DISTINCT ncpus), avg(DISTINCT ncpus), count(DISTINCT mem), count(DISTINCT ncpus % 2), group_concat(DISTINCT 'x') FROM n
SELECT group_concat(name) FROM (SELECT name FROM n ORDER BY name)
SELECT group_concat(name, '; ') FROM (SELECT name FROM n ORDER BY name DESC)
SELECT group_concat(mem, '-') FROM (SELECT mem FROM n ORDER BY name)
SELECT queue, group_concat(name, '+') FROM (SELECT queue, name FROM n ORDER BY name) GROUP BY queue ORDER BY queue
SELECT max(ncpus) - min(ncpus), max(ncpus + 1), max(ncpus) + 1, -max(ncpus) FROM n
SELECT count(*) + 1, count(*) * 1.0 / (SELECT count(*) FROM a), 'n=' || count(*) FROM n
SELECT CASE WHEN count(*) > 3 THEN 'many' ELSE 'few' END FROM n
SELECT queue, CASE WHEN sum(ncpus) > 20 THEN 'big' END FROM n GROUP BY queue ORDER BY 1
SELECT max(queue), min(queue) FROM n WHERE 0
SELECT sum(x) FROM (SELECT 1 AS x)
SELECT sum('3x'), sum('x'), sum('2'), sum('2.5'), avg('4'), sum(NULL), total(NULL), max(NULL), count(NULL)
SELECT sum(9223372036854775807), avg(9223372036854775807), total(9223372036854775807)
SELECT sum(ncpus * 1.1), sum(ncpus / 3.0), avg(ncpus * 0.1) FROM n
SELECT queue, avg(ncpus), sum(load) FROM n WHERE ncpus > 4 GROUP BY queue HAVING avg(ncpus) > 5 ORDER BY 2, 1
SELECT count(*) FROM n WHERE ncpus > 4 AND queue = 'q1' OR mem IS NULL
SELECT queue, count(DISTINCT ncpus), sum(DISTINCT ncpus) FROM n GROUP BY queue ORDER BY queue
SELECT DISTINCT count(*) FROM n GROUP BY queue ORDER BY 1
SELECT queue, (SELECT count(*) FROM n x WHERE x.queue = n.queue) AS c FROM n GROUP BY queue HAVING c > 0 ORDER BY 1
SELECT a.node, sum(a.ncpus) * 100 / n.ncpus FROM a JOIN n ON n.name = a.node GROUP BY a.node, n.ncpus ORDER BY 1
SELECT max(1, count(*)), min(sum(ncpus), 5) FROM n
SELECT string_agg(name, '/') FROM (SELECT name FROM n ORDER BY name)
SELECT queue || '!' , count(*) FROM n GROUP BY queue ORDER BY queue
SELECT TRUE AS t, count(*) FROM n GROUP BY t

-- refused
refused: SELECT x'00'
refused: SELECT name FROM n ORDER BY -1
refused: SELECT name FROM n GROUP BY -1
refused: SELECT name FROM n UNION SELECT 'x' ORDER BY -1
refused: SELECT CAST(1 AS BLOB)
refused: SELECT rowid FROM n
refused: SELECT "nosuch" FROM n
refused: SELECT name FROM n ORDER BY 5
refused: SELECT current_timestamp
refused: SELECT datetime('2024-01-01', 'localtime')
SELECT upper(name) = 'N1', upper(name) = 'n1', lower(name) = 'N1' FROM n
SELECT max(name), min(name), max(name), min(name), max(tag), min(tag) FROM n
SELECT max(name, 'M'), max(name, 'M'), min('m', 'N', name), max('b', 'C') FROM n
SELECT nullif(name, 'N1'), nullif(name, 'N1'), nullif('n1', 'N1'), nullif('n1', 'n1  ') FROM n
SELECT count(DISTINCT tag), count(DISTINCT tag), group_concat(DISTINCT lower(tag)), sum(DISTINCT tag) FROM n
SELECT coalesce(NULL, tag) = 'A', iif(1, tag, 2) = 'b', CASE tag WHEN 'A' THEN 1 WHEN 'b' THEN 2 END, CASE WHEN 1 THEN tag END = 'A' FROM n
SELECT (tag || '') = 'A', -(tag) = 0, CAST(tag AS TEXT) = 'A', (tag) IN ('A', 'b'), 'A' IN (tag) FROM n
SELECT tag FROM n WHERE upper(tag) = lower(tag) ORDER BY 1
SELECT max(tag) OVER (ORDER BY name), min(tag) OVER () FROM n
SELECT tag LIKE 'A', instr(tag, 'A'), replace(tag, 'A', 'x') FROM n
refused: SELECT DISTINCT name FROM n ORDER BY ncpus
refused: SELECT random()
refused: SELECT nosuch(1)
refused: SELECT abs()
refused: SELECT sum(sum(ncpus)) FROM n
refused: SELECT name FROM n WHERE count(*) > 1
refused: SELECT ncpus FROM n, a
refused: SELECT 1 FROM nosuch
refused: SELECT name FROM n WHERE
refused: SELECT 'a
refused: INSERT INTO n VALUES (1)
refused: PRAGMA table_info(n)
refused: SELECT name FROM n LIMIT 'a'
refused: SELECT a -> 'b' FROM n
SELECT DISTINCT CASE WHEN name >= 'b' THEN name END FROM n
SELECT count(*) FROM n GROUP BY CASE WHEN name >= 'b' THEN name END
SELECT count(*), min(name) FROM n GROUP BY tag ORDER BY 1, 2
SELECT lower(tag), count(*) FROM n GROUP BY 1 ORDER BY 1
SELECT count(*) FROM (SELECT DISTINCT lower(tag) FROM n)
SELECT name FROM n WHERE name IN (SELECT upper(name) FROM n) ORDER BY 1
SELECT name FROM n WHERE tag NOT IN (SELECT upper(tag) FROM n) ORDER BY 1
SELECT printf('%5s|%-5s|%!5s|%-!5s|%5.2s|%!5.2s|%3c|%5q', 'äö', 'äö', 'äö', 'äö', 'äöü', 'äöü', 'ä', 'ö')
SELECT -(-0x7fffffffffffffff), -0xffffffffffffffff, 0x8000000000000000, +0x8000000000000000, ~0x8000000000000000
SELECT strftime('%Y|%F|%G', '0001-02-26', '-100 years'), strftime('%Y|%F', '0001-02-26', '-4000 years'), date('0001-02-26', '-100 years'), datetime('0001-02-26 21:13:07Z', '-4000 years'), time('0001-02-26 21:13', '-100 years')
