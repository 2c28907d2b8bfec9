//! The lock of a loading client.

use crate::it::contract::{Backend, Db};
use tidemark_drivers::lock::{Attempt, Life, Scope, life, take};

pub async fn one_client_at_a_time_holds_the_lock(db: Db) {
    let (mut first, mut second) = (db.session().await, db.session().await);
    let Attempt::Taken(lock) = take(&mut first, Scope::Database).await.unwrap() else {
        panic!("nobody holds it")
    };
    assert!(lock.is_held(&mut first).await.unwrap());
    let Attempt::Held(by) = take(&mut second, Scope::Database).await.unwrap() else {
        panic!("the first holds it")
    };
    assert_eq!(by.is_some(), db.backend() != Backend::Sqlite, "{by:?}");
    lock.release(&mut first).await.unwrap();
    let Attempt::Taken(lock) = take(&mut second, Scope::Database).await.unwrap() else {
        panic!("it was released")
    };
    assert!(lock.is_held(&mut second).await.unwrap());
    // Its client is gone without a word.
    drop((lock, second));
    assert!(matches!(
        take(&mut first, Scope::Database).await.unwrap(),
        Attempt::Taken(_)
    ));
}

pub async fn a_client_lives_while_it_holds_its_lock(db: Db) {
    let (mut first, mut second) = (db.session().await, db.session().await);
    let client = Scope::Client(4711);
    let Attempt::Taken(lock) = take(&mut first, client).await.unwrap() else {
        panic!("nobody holds it")
    };
    // SQLite's holder looks from where all others are dead.
    if db.backend() != Backend::Sqlite {
        let alive = life(&mut second, 4711).await.unwrap();
        assert!(matches!(alive, Life::Alive(Some(_))), "{alive:?}");
        assert_eq!(life(&mut second, 4712).await, Ok(Life::Dead));
        // Other locks are free: that of the database, that of another client.
        let other = take(&mut second, Scope::Database).await.unwrap();
        assert!(matches!(other, Attempt::Taken(_)), "{other:?}");
    }
    // Its client is gone without a word.
    drop((lock, first));
    let mut third = db.session().await;
    let gone = std::time::Instant::now();
    while life(&mut third, 4711).await.unwrap() != Life::Dead {
        assert!(gone.elapsed().as_secs() < 20, "the server has not noticed");
        tidemark_runtime::sleep(std::time::Duration::from_millis(20)).await;
    }
}
