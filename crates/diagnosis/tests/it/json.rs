//! The diagnosis as data.

use super::common::run;

#[test]
fn json_has_the_documented_keys() {
    let made = run()
        .active("IO:WalSync", 4.0)
        .active("CPU", 1.0)
        .busy(0.3)
        .server(0.8, 20.0);
    let json = serde_json::to_value(made.status("log.syncs", 900.0).diagnosis()).unwrap();
    assert_eq!(json["verdict"], "commit-log");
    assert!(
        json["sentence"]
            .as_str()
            .unwrap()
            .contains("of the latency")
    );
    let all = &json["parts"][0];
    assert!(all["type"].is_null() && all["mean_ms"].as_f64().unwrap() > 7.9);
    let part = |part: &str, class: &str| {
        let parts = all["parts"].as_array().unwrap();
        parts
            .iter()
            .any(|p| p["part"] == part && p["class"].as_str().unwrap_or("") == class)
    };
    assert!(
        part("server-wait", "log") && part("network", "") && part("server-cpu", ""),
        "{all}"
    );
    let found = &json["findings"][0];
    assert_eq!(found["cause"], "commit-log");
    assert_eq!(found["confidence"], "high");
    assert!(
        found["excludes"]
            .as_array()
            .unwrap()
            .contains(&"server-cpu".into())
    );
    let evidence = &found["evidence"][0];
    for key in ["metric", "value", "unit", "from_s", "to_s"] {
        assert!(!evidence[key].is_null(), "{key}: {evidence}");
    }
    assert!(
        json["skipped"]
            .as_array()
            .unwrap()
            .iter()
            .any(|s| s["cause"] == "coherency")
    );
    for cause in json["findings"].as_array().unwrap() {
        assert!(cause["next"].is_string());
    }
}

#[test]
fn ids_are_those_of_json() {
    let diagnosis = run().diagnosis();
    let json = serde_json::to_value(&diagnosis).unwrap();
    assert_eq!(json["verdict"], diagnosis.verdict.id());
    for (skipped, json) in diagnosis
        .skipped
        .iter()
        .zip(json["skipped"].as_array().unwrap())
    {
        assert_eq!(json["cause"], skipped.cause.id());
    }
}
