//! A server's settings, changed for a time and put back, on real servers.

use std::io::Write;
use tidemark_core::{ErrorClass, Target};
use tidemark_drivers::settings::global::{
    before_change, can_be_changed, change, has_taken_hold, moved, moved_since, restore, snapshot,
};
use tidemark_drivers::{ConnectOptions, Connector};
use tidemark_runtime::block_on;
use tidemark_testkit::Server;

fn connector(server: &Server) -> Connector {
    let target = Target::parse(&server.url()).unwrap();
    Connector::new(target, ConnectOptions::default()).unwrap()
}

const CAPACITY: &str = "innodb_io_capacity";
const MOST: &str = "innodb_io_capacity_max";

#[test]
fn what_mariadb_moves_with_a_setting_is_found_and_put_back() {
    let server = Server::mariadb().unwrap();
    let connector = connector(&server);
    block_on(async move {
        let mut session = connector.connect(0).await.unwrap();
        let all = snapshot(&mut session).await.unwrap();
        let capacity = before_change(&mut session, CAPACITY).await.unwrap();
        let most = all[MOST].clone();
        assert!(!all.contains_key("datadir") && !all.contains_key("timestamp"));
        // What can't be set can't be put back.
        assert!(!all.contains_key("innodb_page_size"));
        let more = most.parse::<u64>().unwrap() * 2;
        change(&mut session, CAPACITY, &more.to_string())
            .await
            .unwrap();
        let now = snapshot(&mut session).await.unwrap();
        let found = moved(&all, &now, CAPACITY);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((&found[0].name[..], &found[0].before), (MOST, &most));
        // The same is found by a process that comes later, as long as the change is there.
        let to = more.to_string();
        let later = moved_since(&mut session, &all, CAPACITY, &to).await;
        assert_eq!(later.unwrap(), found);
        let other = moved_since(&mut session, &all, CAPACITY, "1234").await;
        assert_eq!(other.unwrap(), []);

        // Put back in the wrong order, the server raises the one again, and it is put back again.
        let before = [
            (MOST.to_string(), Some(most.clone())),
            (CAPACITY.to_string(), capacity.clone()),
        ];
        let left = restore(&mut session, &before).await.unwrap();
        assert_eq!(left, []);
        assert_eq!(snapshot(&mut session).await.unwrap(), all);
        // What the server does not take is told.
        let wrong = [
            (CAPACITY.to_string(), Some("nonsense".to_string())),
            (MOST.to_string(), Some("1".to_string())),
        ];
        let left = restore(&mut session, &wrong).await.unwrap();
        assert_eq!(left.len(), 2, "{left:?}");
        assert!(left[0].1.contains("1232"), "{left:?}");
        assert!(left[1].1.contains("the server changed it to "), "{left:?}");
        session.close().await;
    })
    .unwrap();
}

#[test]
fn a_list_of_names_is_put_back_as_it_was_on_postgres() {
    let server = Server::postgres().unwrap();
    let connector = connector(&server);
    server
        .query("ALTER SYSTEM SET search_path = \"$user\", public, 'Odd, name'")
        .unwrap();
    block_on(async move {
        let mut session = connector.connect(0).await.unwrap();
        for (name, to, shown) in [
            ("search_path", "public,pg_catalog", "public, pg_catalog"),
            ("search_path", "Public, \"A b\"", "public, \"A b\""),
            ("temp_tablespaces", "pg_default", "pg_default"),
            (
                "session_preload_libraries",
                "auto_explain, pg_stat_statements",
                "auto_explain, pg_stat_statements",
            ),
            ("DateStyle", "SQL, DMY", "SQL, DMY"),
            ("work_mem", "12MB", "12MB"),
            ("max_wal_size", "2GB", "2GB"),
        ] {
            let before = before_change(&mut session, name).await.unwrap();
            assert_eq!(before.is_some(), name == "search_path", "{before:?}");
            change(&mut session, name, to).await.unwrap();
            let mut new = connector.connect(0).await.unwrap();
            has_taken_hold(&mut new, name, to).await.unwrap();
            let found = new.query(&format!("SHOW {name}")).await.unwrap();
            assert_eq!(found.text(0, 0).as_deref(), Some(shown));
            new.close().await;
            let settings = [(name.to_string(), before.clone())];
            assert_eq!(restore(&mut session, &settings).await.unwrap(), []);
            assert_eq!(before_change(&mut session, name).await.unwrap(), before);
        }
        let before = before_change(&mut session, "search_path").await.unwrap();
        assert_eq!(before.as_deref(), Some("\"$user\", public, \"Odd, name\""));
        let wrong = change(&mut session, "search_path", "a b, c").await;
        let told = wrong.unwrap_err().to_string();
        assert!(told.contains("is not a list of names; use"), "{told}");
        // With a file without a name no session could be opened any more.
        let name = "session_preload_libraries";
        let wrong = change(&mut session, name, "").await;
        let told = wrong.unwrap_err().to_string();
        assert!(told.contains("cannot write an empty list"), "{told}");
        connector.connect(0).await.unwrap().close().await;
        // A list of identifiers may be empty.
        change(&mut session, "search_path", "").await.unwrap();
        let mut new = connector.connect(0).await.unwrap();
        has_taken_hold(&mut new, "search_path", "").await.unwrap();
        new.close().await;
        let settings = [("search_path".to_string(), before)];
        assert_eq!(restore(&mut session, &settings).await.unwrap(), []);
        // One that somebody wrote into the file by hand could not be put back.
        let folder = session.query("SHOW data_directory").await.unwrap();
        let path = folder.text(0, 0).unwrap() + "/postgresql.auto.conf";
        let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
        writeln!(file, "session_preload_libraries = ''").unwrap();
        let refused = can_be_changed(&mut session, name).await.unwrap_err();
        let told = refused.to_string();
        assert!(told.contains("which could not be restored"), "{told}");
        session.close().await;
    })
    .unwrap();
}

#[test]
fn what_does_not_take_hold_on_postgres_is_told() {
    let server = Server::postgres().unwrap();
    let connector = connector(&server);
    block_on(async move {
        let mut session = connector.connect(0).await.unwrap();
        change(&mut session, "work_mem", "12MB").await.unwrap();
        let mut new = connector.connect(0).await.unwrap();
        has_taken_hold(&mut new, "work_mem", "12288kB")
            .await
            .unwrap();
        let other = has_taken_hold(&mut new, "work_mem", "13MB").await;
        let told = other.unwrap_err().to_string();
        assert!(
            told.contains("requested 13MB, but new sessions have 12288 (kB)"),
            "{told}"
        );
        new.close().await;
        // Set for all accounts, which wins over the server's files.
        session
            .query("ALTER ROLE ALL SET work_mem = '5MB'")
            .await
            .unwrap();
        let mut new = connector.connect(0).await.unwrap();
        let won = has_taken_hold(&mut new, "work_mem", "12MB").await;
        let won = won.unwrap_err();
        assert_eq!(won.class, ErrorClass::Refused);
        let told = won.to_string();
        assert!(
            told.contains("new sessions have 5120 (kB)") && told.contains("ALTER ROLE"),
            "{told}"
        );
        let refused = can_be_changed(&mut new, "work_mem").await.unwrap_err();
        assert!(refused.to_string().contains("ALTER ROLE"), "{refused}");
        let refused = can_be_changed(&mut new, "client_encoding").await;
        let told = refused.unwrap_err().to_string();
        assert!(told.contains("every Tidemark session sets it"), "{told}");
        new.close().await;
        session.close().await;
    })
    .unwrap();
}
