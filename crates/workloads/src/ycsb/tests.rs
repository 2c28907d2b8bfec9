//! Keys and values of tables that go-ycsb loaded: computed with Go's own FNV-1a and format verbs.

use super::encoding::{deterministic_value, key};
use super::settings::tests::settings;

fn key_of(options: &[(&str, &str)], number: u64) -> String {
    let mut out = String::new();
    key(&settings(options).unwrap(), number, &mut out);
    out
}

fn value_of(key: &str, field: usize, length: usize) -> String {
    let mut out = String::new();
    deterministic_value(key, field, length, &mut out);
    out
}

#[test]
fn keys_are_go_ycsbs() {
    for (number, wanted) in [
        (0, "user6284781860667377211"),
        (1, "user6284782960179005422"),
        (2, "user6284784059690633633"),
        (3, "user6284785159202261844"),
        (999, "user6283716433899829977"),
        (1000, "user6283728528527740298"),
        (123_456_789, "user6352291977467012831"),
        (999_999_999_999, "user5687457076170419056"),
    ] {
        assert_eq!(key_of(&[], number), wanted, "{number}");
    }
    let padded = key_of(&[("zeropadding", "25")], 5);
    assert_eq!(padded, "user0000006284787358225518266");
    let ordered = key_of(&[("insertorder", "ordered"), ("zeropadding", "12")], 5);
    assert_eq!(ordered, "user000000000005");
}

#[test]
fn values_that_are_verified_are_go_ycsbs() {
    let first = "user6284781860667377211";
    assert_eq!(
        value_of(first, 0, 100),
        "user6284781860667377211:field0:8980977323673753606:16867828776479423555:\
         7920111348627871679:46702032"
    );
    assert_eq!(
        value_of(first, 9, 100),
        "user6284781860667377211:field9:8974224123254606219:552297879340201480:\
         4478423695581867370:3710658413"
    );
    assert_eq!(
        value_of("user6284789557248774688", 3, 150),
        "user6284789557248774688:field3:17028465620248459468:15980095439824024237:\
         12184718057367034058:2131010029195808720:7730380083243752763:1145794742678688"
    );
    assert_eq!(value_of("user7", 3, 20), "user7:field3:9499898");
}
