//! The PostgreSQL driver against real servers, and against false ones that break the protocol.

mod connect;
mod errors;
mod load;
mod pipeline;
mod statements;
mod support;
