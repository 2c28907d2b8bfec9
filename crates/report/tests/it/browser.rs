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

/// What a finger touched stays to be read when it is lifted; what a mouse leaves goes.
#[test]
fn a_chart_tells_its_values_to_a_finger() {
    let folder = tempfile::tempdir().unwrap();
    let page = durability(3).html(Lang::En).unwrap();
    let touch = "<script>const chart = document.querySelector('.chart[tabindex]');\
                 const tips = [];\
                 for (const [type, pointerType] of [['pointerdown', 'touch'], ['pointerleave', 'touch'],\
                 ['pointercancel', 'touch'], ['pointermove', 'mouse'], ['pointerleave', 'mouse']]) {\
                 chart.dispatchEvent(new PointerEvent(type, { pointerType, clientX: 200, clientY: 200 }));\
                 tips.push(chart.querySelectorAll('.tip').length); }\
                 document.title = 'tips ' + tips.join();</script></body>";
    let opened = open(folder.path(), "touch", &page.replace("</body>", touch));
    assert_eq!(opened.console, [""; 0]);
    assert!(opened.dom.contains("<title>tips 1,1,0,1,0</title>"));
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

/// The page in a frame of each width: a window of a browser has a least width, a frame has none.
fn framed(folder: &Path, name: &str, page: &str, widths: &[usize]) -> Opened {
    let page = page.replace('&', "&amp;").replace('"', "&quot;");
    let frames = widths.iter().map(|width| {
        format!(
            "<iframe style=\"width:{width}px;height:900px;border:0\" srcdoc=\"{page}\"></iframe>"
        )
    });
    let frames = frames.collect::<Vec<_>>().concat();
    let measure = "<script>onload = () => { document.title = 'frames ' + [...document.querySelectorAll('iframe')]\
                   .map((frame) => { const root = frame.contentDocument.documentElement;\
                   return root.clientWidth + ':' + root.scrollWidth; }).join(); }</script>";
    open(
        folder,
        name,
        &format!("<!doctype html><meta charset=utf-8>{measure}{frames}"),
    )
}

/// Of each frame the width that it has and the one that its document takes.
fn widths(opened: &Opened) -> Vec<(usize, usize)> {
    let title = regex::Regex::new(r"<title>frames ([0-9:,]+)</title>").unwrap();
    let said = title
        .captures(&opened.dom)
        .unwrap_or_else(|| panic!("no widths: {:?}", opened.console));
    let each = said[1].split(',').map(|frame| {
        let (has, takes) = frame.split_once(':').unwrap();
        (has.parse().unwrap(), takes.parse().unwrap())
    });
    each.collect()
}

#[test]
fn no_page_is_wider_than_a_phone_or_a_window() {
    let folder = tempfile::tempdir().unwrap();
    let record = run(&Shape {
        seconds: 10,
        ..Shape::five_types()
    });
    for lang in Lang::ALL {
        for (name, page) in [
            ("study", durability(3).html(lang).unwrap()),
            ("run", html(&record, lang).unwrap()),
        ] {
            let name = format!("{name}-{}", lang.tag());
            let opened = framed(folder.path(), &name, &page, &[400, 1200]);
            let widths = widths(&opened);
            assert_eq!(widths.len(), 2);
            for (has, takes) in widths {
                assert!(takes <= has, "{name}: {takes} pixels in a frame of {has}");
            }
        }
    }
    // A long word of somebody's is broken.
    let (a, b) = ("a".repeat(90), "b".repeat(90));
    let values = [(a.as_str(), 1.0), (b.as_str(), 0.8)];
    let threads = [1, 2, 4, 8];
    let long = records(&["oltp_read_write"], &threads, ("setting", &values), 1, 6);
    let page = document("long", &long).html(Lang::En).unwrap();
    let opened = framed(folder.path(), "long", &page, &[400, 1200]);
    for (has, takes) in widths(&opened) {
        assert!(takes <= has, "{takes} pixels in a frame of {has}");
    }
    // What is too wide would be seen.
    let wide = "<!doctype html><div style=\"width:900px\">wide</div>";
    let opened = framed(folder.path(), "wide", wide, &[400]);
    assert!(widths(&opened).iter().all(|(has, takes)| takes > has));
}

#[test]
fn a_page_prints() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    std::fs::write(&file, durability(3).html(Lang::En).unwrap()).unwrap();
    let printed = folder.path().join("page.pdf");
    let option = format!("--print-to-pdf={}", printed.display());
    let done = chromium(folder.path(), &[&option], &file);
    assert!(done.status.success(), "{done:?}");
    let printed = std::fs::read(&printed).unwrap();
    assert!(printed.starts_with(b"%PDF-"));
    // Charts are on it, not words alone.
    assert!(printed.len() > 20_000, "{} bytes", printed.len());
}

/// The page as its own rules have it in the dark or on paper, whatever the browser prefers.
fn in_medium(page: &str, in_dark: bool, on_paper: bool) -> String {
    let mut page = page.to_string();
    for (applies, from, to) in [
        (in_dark, "(prefers-color-scheme: dark)", "all"),
        (on_paper, "@media print", "@media all"),
        (on_paper, "@media screen", "@media print"),
    ] {
        if applies {
            assert!(page.contains(from), "{from}");
            page = page.replace(from, to);
        }
    }
    page
}

/// Texts that stand out too little from what is behind them (WCAG 2.2, 1.4.3), and how many there are.
fn faint_texts(folder: &Path, name: &str, page: &str) -> (usize, usize, String) {
    let measure = "<script>{\
        const numbers = (colour) => colour.match(/[0-9.]+/g).map(Number);\
        const part = (v) => v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4;\
        const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);\
        const ground = (element) => {\
          for (let e = element; e; e = e.parentElement) {\
            const colour = numbers(getComputedStyle(e).backgroundColor);\
            if (colour.length < 4 || colour[3] > 0.5) return colour;\
          }\
          return [255, 255, 255];\
        };\
        const texts = new Set();\
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);\
        while (walker.nextNode()) {\
          const e = walker.currentNode.parentElement;\
          if (walker.currentNode.data.trim() && !e.closest('script, style, title')) texts.add(e);\
        }\
        const faint = [...texts].filter((e) => {\
          const style = getComputedStyle(e);\
          const drawn = e.closest('svg');\
          const both = [light(numbers(drawn ? style.fill : style.color)), light(ground(e))];\
          const contrast = (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);\
          return contrast < (drawn ? 3 : 4.5);\
        });\
        const said = faint.slice(0, 5).map((e) => e.tagName + ' ' + e.textContent.trim().slice(0, 30));\
        document.title = `faint ${faint.length} of ${texts.size}: ${said.join(', ')}`;\
        }</script></body>";
    let opened = open(folder, name, &page.replace("</body>", measure));
    assert_eq!(opened.console, [""; 0], "{name}");
    let title = regex::Regex::new(r"<title>faint (\d+) of (\d+): ([^<]*)</title>").unwrap();
    let said = title
        .captures(&opened.dom)
        .unwrap_or_else(|| panic!("{name}: {:?}", opened.console));
    let number = |n: usize| said[n].parse().unwrap();
    (number(1), number(2), said[3].to_string())
}

#[test]
fn every_text_is_seen_in_the_light_in_the_dark_and_on_paper() {
    let folder = tempfile::tempdir().unwrap();
    let record = run(&Shape {
        seconds: 10,
        ..Shape::five_types()
    });
    let pages = [
        ("study", durability(3).html(Lang::En).unwrap()),
        ("run", html(&record, Lang::Zh).unwrap()),
    ];
    for (page_name, page) in &pages {
        for (medium, in_dark, on_paper) in [
            ("light", false, false),
            ("dark", true, false),
            ("paper", true, true),
        ] {
            let name = format!("{page_name}-{medium}");
            let page = in_medium(page, in_dark, on_paper);
            let (faint, all, said) = faint_texts(folder.path(), &name, &page);
            assert!(all > 100, "{name}: {all} texts");
            assert_eq!(faint, 0, "{name}: {said}");
        }
    }
    // One that is hardly seen is found, in HTML and in a drawing.
    let dark = "<!doctype html><html><head><title>-</title></head><body style=\"background:#131e27\">\
                <p style=\"color:#333\">faint</p><p style=\"color:#eee\">clear</p>\
                <svg><text fill=\"#222222\">faint</text></svg></body></html>";
    let (faint, all, _) = faint_texts(folder.path(), "faint", dark);
    assert_eq!((faint, all), (2, 3));
}

#[test]
fn paper_shows_no_controls() {
    let folder = tempfile::tempdir().unwrap();
    let page = in_medium(&durability(3).html(Lang::En).unwrap(), false, true);
    // Sorted, and with a point's values shown, as one may have left it.
    let look = "<script>{\
        document.querySelector('.sortable th button').click();\
        for (const chart of document.querySelectorAll('.chart')) \
          chart.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }));\
        const shown = (e) => getComputedStyle(e).display !== 'none';\
        const marked = (e) => getComputedStyle(e).listStyleType !== 'none';\
        const sorted = [...document.querySelectorAll('[aria-sort] button')];\
        const signs = sorted.filter((e) => getComputedStyle(e, '::after').content !== 'none');\
        const count = (of, test) => [...document.querySelectorAll(of)].filter(test).length;\
        document.title = ['controls', count('nav', shown), count('.screen-only', shown),\
          count('.tip, .cursor', shown), count('figure details', shown),\
          count('summary', marked), signs.length, 'of', sorted.length,\
          document.querySelectorAll('nav').length, document.querySelectorAll('.tip').length].join(' ');\
        }</script></body>";
    let opened = open(folder.path(), "paper", &page.replace("</body>", look));
    assert_eq!(opened.console, [""; 0]);
    let title = regex::Regex::new("<title>(controls [^<]*)</title>").unwrap();
    let said = title
        .captures(&opened.dom)
        .unwrap_or_else(|| panic!("{:?}", opened.console));
    let (shown, there) = said[1].split_once(" of ").unwrap();
    assert_eq!(shown, "controls 0 0 0 0 0 0");
    // There was something to hide.
    assert!(there.split(' ').all(|count| count != "0"), "{there}");
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
