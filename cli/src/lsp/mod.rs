//! The language server: the Language Server Protocol on standard streams, on top of `ilo_asm::ide`.
//!
//! One thread answers messages in order; another reads them, so that cancelled requests and superseded
//! changes cost nothing. Only the text of a document is kept; it is analysed for each request, which costs
//! less than keeping a tree for each document.
//!
//! | file | contents |
//! |---|---|
//! | `frame`, `message`, `protocol` | messages as bytes, with a limit; their kinds; what is in them |
//! | `queue` | what was read and not yet answered, with a limit |
//! | `documents`, `catalogues` | open documents; the tools of each |
//! | `convert` | places and kinds of `ide` in the protocol's terms |
//! | `answer` | one function for each request |
//! | `server` | the session: its states, and which function answers what |

mod answer;
mod catalogues;
mod convert;
mod documents;
mod entry;
mod frame;
mod message;
mod protocol;
mod queue;
mod server;
mod signature;

pub(crate) use server::serve;
