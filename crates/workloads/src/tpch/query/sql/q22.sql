SELECT cntrycode, COUNT(*) AS numcust, SUM(c_acctbal) AS totacctbal
FROM (
    SELECT {prefix c_phone 2} AS cntrycode, c_acctbal
    FROM customer
    WHERE {prefix c_phone 2} IN ('[1]', '[2]', '[3]', '[4]', '[5]', '[6]', '[7]')
      AND c_acctbal > (
          SELECT AVG(c_acctbal)
          FROM customer
          WHERE c_acctbal > 0.00
            AND {prefix c_phone 2} IN ('[1]', '[2]', '[3]', '[4]', '[5]', '[6]', '[7]'))
      AND NOT EXISTS (SELECT * FROM orders WHERE o_custkey = c_custkey)) AS custsale
GROUP BY cntrycode
ORDER BY cntrycode
