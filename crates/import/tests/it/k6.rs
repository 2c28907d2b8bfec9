//! k6's summaries and measurements.

use super::tools::{figure, one};

#[test]
fn k6_has_failed_requests_and_conditions() {
    let run = one(
        "{\"metrics\":{\"iterations\":{\"count\":12000,\"rate\":199.9},\
         \"http_req_failed\":{\"passes\":6000,\"fails\":6000,\"value\":0.5},\
         \"vus\":{\"value\":10,\"min\":10,\"max\":10},\"checks\":{\"passes\":9000,\"fails\":3000}}}",
    );
    assert_eq!(figure(&run, "", "error_share"), 50.0);
    assert_eq!(figure(&run, "", "checks_failed"), 3000.0);
    assert_eq!(run.sessions, 10);
}

#[test]
fn k6_prints_its_parts_since_version_1() {
    let run = one("\
  █ TOTAL RESULTS

    checks_total.......................: 12000   199.9/s
    checks_succeeded...................: 99.50%  11940 out of 12000
    checks_failed......................: 0.50%   60 out of 12000

    ✓ status is 200
    ✗ body is whole
      ↳  99% — ✓ 11940 / ✗ 60

    HTTP
    http_req_duration..................: avg=9.81ms min=1.2ms med=8.9ms max=1.21s p(90)=15.2ms p(95)=19.8ms
    http_req_failed....................: 0.50%  60 out of 12000
    http_reqs..........................: 12000  199.9/s

    EXECUTION
    iteration_duration.................: avg=50.01ms min=40ms med=49ms max=1.5s p(90)=60ms p(95)=70ms
    iterations.........................: 12000  199.9/s
    vus................................: 10     min=10 max=10

    NETWORK
    data_received......................: 12 MB  200 kB/s

running (1m00.0s), 00/10 VUs, 12000 complete and 0 interrupted iterations
default ✓ [======================================] 10 VUs  1m0s
");
    assert_eq!(figure(&run, "", "checks_failed"), 60.0);
    assert_eq!(figure(&run, "", "checks_passed"), 11_940.0);
    assert_eq!(figure(&run, "", "request_rate"), 199.9);
    assert_eq!((run.sessions, run.totals.elapsed_s), (10, 60.0));
}

#[test]
fn k6_prints_every_measurement_as_json() {
    let point = |metric: &str, second: u32, value: f64| {
        format!(
            "{{\"metric\":\"{metric}\",\"type\":\"Point\",\"data\":{{\"time\":\"2026-01-01T10:00:{second:02}.5+08:00\",\"value\":{value},\"tags\":{{\"scenario\":\"default\"}}}}}}\n"
        )
    };
    let mut text = String::from(
        "{\"type\":\"Metric\",\"data\":{\"name\":\"iteration_duration\",\"type\":\"trend\",\"contains\":\"time\",\"thresholds\":[],\"submetrics\":null},\"metric\":\"iteration_duration\"}\n",
    );
    for second in 0..10 {
        text += &point("http_reqs", second, 1.0);
        text += &point("http_req_failed", second, f64::from(u8::from(second == 3)));
        text += &point("iteration_duration", second, 40.0 + f64::from(second));
        text += &point("vus_max", second, 4.0);
    }
    let run = one(&text);
    assert_eq!((run.sessions, run.totals.all.count), (4, 10));
    assert_eq!(figure(&run, "", "error_share"), 10.0);
    assert!((figure(&run, "", "mean_ms") - 44.5).abs() < 0.1);
    assert!((run.totals.elapsed_s - 9.04).abs() < 0.01);
}
