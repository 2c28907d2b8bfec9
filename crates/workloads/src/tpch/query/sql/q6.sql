SELECT SUM(l_extendedprice * l_discount) AS revenue
FROM lineitem
WHERE l_shipdate >= {date [1]}
  AND l_shipdate < {date [1] + 1 year}
  AND l_discount BETWEEN {decimal [2] - 0.01} AND {decimal [2] + 0.01}
  AND l_quantity < [3]
