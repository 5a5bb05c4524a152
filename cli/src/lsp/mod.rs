//! The language server: the Language Server Protocol on standard streams, over what `ilo_asm::ide` knows.
//!
//! One thread answers messages in their order; another reads them, so that a request that was cancelled
//! meanwhile, and a change that the next one replaces, cost nothing. A document is kept as text alone and is
//! analysed anew for each request: that costs less than keeping a tree for each.
//!
//! | file | contents |
//! |---|---|
//! | `frame`, `protocol` | messages as bytes, with a limit; the shapes of what is in them |
//! | `queue` | what was read and not yet answered, with a limit |
//! | `documents`, `catalogues` | open documents; the tools of each |
//! | `convert` | places and kinds of `ide` in the protocol's terms |
//! | `answer` | one function for each request |
//! | `server` | the session: its states, and which function answers what |

mod answer;
mod catalogues;
mod convert;
mod documents;
mod frame;
mod protocol;
mod queue;
mod server;

pub(crate) use server::serve;
