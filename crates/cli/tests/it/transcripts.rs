//! What commands print, word for word. `TRYCMD=overwrite cargo test -p tidemark --test it transcripts`
//! writes them anew.

#[test]
fn transcripts() {
    trycmd::TestCases::new()
        .env("LC_ALL", "C")
        .case("tests/cmd/*.trycmd");
}
