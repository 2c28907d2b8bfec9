//! Pictures on terminals that are not there.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use tidemark_live::Scene;

/// What a terminal of this size shows.
pub fn drawn(scene: &impl Scene, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| scene.draw(frame)).unwrap();
    let buffer = terminal.backend().buffer().clone();
    let cells: Vec<&str> = buffer.content().iter().map(|c| c.symbol()).collect();
    let lines = cells.chunks(width.into()).map(|l| l.concat());
    lines.map(|l| l.trim_end().to_string() + "\n").collect()
}

/// Compares with the picture in `tests/pictures`; `TIDEMARK_DRAW=1` writes it anew, to be looked at.
pub fn must_be(name: &str, drawn: &str) {
    let path = format!("{}/tests/pictures/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("TIDEMARK_DRAW").is_some() {
        std::fs::write(&path, drawn).unwrap();
    }
    let known = std::fs::read_to_string(&path).unwrap();
    assert!(drawn == known, "{name} is now:\n{drawn}\nand was:\n{known}");
}
