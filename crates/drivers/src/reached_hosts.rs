//! Servers that a thread's sessions have reached.

use std::cell::RefCell;
use std::rc::Rc;
use tidemark_core::ServerInfo;

/// One copy for all sessions of a thread: they mostly reach the same server.
pub(crate) fn shared(info: ServerInfo) -> Rc<ServerInfo> {
    thread_local! {
        static SEEN: RefCell<Vec<Rc<ServerInfo>>> = const { RefCell::new(Vec::new()) };
    }
    /// Versions kept; a target has one, or a few while it is upgraded.
    const MOST: usize = 16;
    SEEN.with(|seen| {
        let mut seen = seen.borrow_mut();
        if let Some(same) = seen.iter().find(|s| ***s == info) {
            return Rc::clone(same);
        }
        let info = Rc::new(info);
        if seen.len() < MOST {
            seen.push(Rc::clone(&info));
        }
        info
    })
}
