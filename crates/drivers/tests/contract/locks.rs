//! The lock of a loading client.

use crate::{Backend, Db};
use tidemark_drivers::lock::{Attempt, take};

pub async fn one_client_at_a_time_holds_the_lock(db: Db) {
    let (mut first, mut second) = (db.session().await, db.session().await);
    let Attempt::Taken(lock) = take(&mut first).await.unwrap() else {
        panic!("nobody holds it")
    };
    assert!(lock.is_held(&mut first).await.unwrap());
    let Attempt::Held(by) = take(&mut second).await.unwrap() else {
        panic!("the first holds it")
    };
    assert_eq!(by.is_some(), db.backend() != Backend::Sqlite, "{by:?}");
    lock.release(&mut first).await.unwrap();
    let Attempt::Taken(lock) = take(&mut second).await.unwrap() else {
        panic!("it was released")
    };
    assert!(lock.is_held(&mut second).await.unwrap());
    // Its client is gone without a word.
    drop((lock, second));
    assert!(matches!(take(&mut first).await.unwrap(), Attempt::Taken(_)));
}
