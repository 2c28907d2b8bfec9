//! The pages in a real browser (Debian's Chromium, headless): what its document holds, that no script
//! fails, and that nothing is asked of any network.

use super::common::many::{document, durability, records};
use super::common::{Shape, run};
use std::path::Path;
use std::process::{Command, Output};
use tidemark_report::{Lang, html};

/// What a browser made of a page.
struct Opened {
    dom: String,
    /// Lines of the console.
    console: Vec<String>,
    /// Addresses that were asked for, but for the page itself and what is written in it.
    asked: Vec<String>,
}

fn browser() -> &'static str {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let there = |name: &&str| Command::new(name).arg("--version").output().is_ok();
    names.into_iter().find(there).unwrap_or_else(|| {
        panic!("no browser: install Debian's package chromium (scripts/test does)")
    })
}

fn chromium(folder: &Path, options: &[&str], page: &Path) -> Output {
    Command::new(browser())
        .args([
            "--headless",
            // Tests run as root in containers, where its sandbox can't.
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-component-update",
            "--no-first-run",
            "--enable-logging=stderr",
            // Whatever it asks for is not found, and not sent.
            "--host-resolver-rules=MAP * ~NOTFOUND",
        ])
        .arg(format!(
            "--user-data-dir={}",
            folder.join("profile").display()
        ))
        .args(options)
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap()
}

fn open(folder: &Path, name: &str, page: &str) -> Opened {
    let file = folder.join(format!("{name}.html"));
    std::fs::write(&file, page).unwrap();
    let log = folder.join(format!("{name}.json"));
    let log_option = format!("--log-net-log={}", log.display());
    let done = chromium(folder, &[&log_option, "--dump-dom"], &file);
    assert!(done.status.success(), "{done:?}");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    let console = said.lines().filter(|l| l.contains("CONSOLE"));
    let log = std::fs::read_to_string(&log).unwrap();
    // The browser's own business has another key.
    let request = regex::Regex::new(r#""network_isolation_key":"file:.*"url":"([^"]+)""#).unwrap();
    let asked = log
        .lines()
        .filter_map(|l| Some(request.captures(l)?[1].to_string()));
    Opened {
        dom: String::from_utf8_lossy(&done.stdout).into_owned(),
        console: console.map(String::from).collect(),
        asked: asked.filter(|url| !url.starts_with("file:")).collect(),
    }
}

#[test]
fn pages_open_without_errors_or_requests_in_both_languages() {
    let folder = tempfile::tempdir().unwrap();
    let study = durability(6);
    let record = run(&Shape {
        seconds: 10,
        ..Shape::five_types()
    });
    for (lang, of_study, of_run) in [
        (
            Lang::En,
            "Universal Scalability Law",
            "Latency distribution",
        ),
        (Lang::Zh, "通用可扩展性定律", "延迟分布"),
    ] {
        for (name, page, words) in [
            ("study", study.html(lang).unwrap(), of_study),
            ("run", html(&record, lang).unwrap(), of_run),
        ] {
            let opened = open(folder.path(), &format!("{name}-{}", lang.tag()), &page);
            assert_eq!(opened.console, [""; 0], "{name} {}", lang.tag());
            assert_eq!(opened.asked, [""; 0], "{name} {}", lang.tag());
            assert!(opened.dom.contains(words), "{name} {}", lang.tag());
            // Every chart is there with its words for those who don't see it.
            let charts = opened.dom.matches("class=\"chart\" role=\"img\"").count();
            assert!(charts >= 5, "{charts}");
            assert!(opened.dom.matches("aria-label=").count() >= charts);
        }
    }
}

/// The page's own script, asked by another: the arrow keys show a point's values.
#[test]
fn a_chart_tells_its_values_to_the_keyboard() {
    let folder = tempfile::tempdir().unwrap();
    let page = durability(3).html(Lang::En).unwrap();
    let press = "<script>for (const chart of document.querySelectorAll('.chart')) \
                 chart.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }));\
                 document.title = 'tips ' + document.querySelectorAll('.chart .tip').length + ' of ' \
                 + document.querySelectorAll('.chart').length;</script></body>";
    let opened = open(folder.path(), "keys", &page.replace("</body>", press));
    assert_eq!(opened.console, [""; 0]);
    let title = regex::Regex::new(r"<title>tips (\d+) of (\d+)</title>").unwrap();
    let said = title
        .captures(&opened.dom)
        .unwrap_or_else(|| panic!("{}", opened.dom));
    assert_eq!(said[1], said[2]);
    assert_ne!(&said[1], "0");
}

/// Sizes with units are numbers to the column's heading.
#[test]
fn a_column_of_sizes_is_sorted_by_size() {
    let folder = tempfile::tempdir().unwrap();
    let sizes = [("20k", 1.0), ("1M", 0.6), ("100k", 0.9)];
    let records = records(&["oltp_read_write"], &[8], ("size", &sizes), 1, 6);
    let page = document("sizes", &records).html(Lang::En).unwrap();
    let click = "<script>const heads = [...document.querySelectorAll('.sortable th button')];\
                 const size = heads.findIndex((head) => head.textContent === 'Size');\
                 heads[size].click(); heads[size].click();\
                 document.title = 'sorted ' + [...document.querySelectorAll('.sortable tbody tr')]\
                 .map((row) => row.cells[size].textContent).join();</script></body>";
    let opened = open(folder.path(), "sorted", &page.replace("</body>", click));
    assert_eq!(opened.console, [""; 0]);
    assert!(
        opened.dom.contains("<title>sorted 1M,100k,20k</title>"),
        "{}",
        opened.dom
    );
}

/// What the tests above look for is seen where it is.
#[test]
fn errors_and_requests_would_be_seen() {
    let folder = tempfile::tempdir().unwrap();
    let page = "<!doctype html><img src=\"http://example.test/picture.png\">\
                <script>nowhere.to.be.found()</script>";
    let opened = open(folder.path(), "bad", page);
    assert!(
        opened.console.iter().any(|l| l.contains("nowhere")),
        "{:?}",
        opened.console
    );
    assert!(
        opened.asked.iter().any(|url| url.contains("example.test")),
        "{:?}",
        opened.asked
    );
}
