//! One test server's temporary folder.

use crate::{Error, SandboxEngine};
use std::fs;
use std::ops::Deref;
use std::os::unix::fs::PermissionsExt;
use tempfile::TempDir;
use tidemark_sandbox::{Account, ServerFiles, free_port};

/// Where one server's files are and what it runs as; they end with it.
#[derive(Debug)]
pub(crate) struct Layout {
    pub place: ServerFiles,
    _folder: TempDir,
}

impl Layout {
    pub fn create(engine: SandboxEngine) -> Result<Layout, Error> {
        // Short, as a Unix socket's path is limited to 107 bytes (unix(7)).
        let folder = tempfile::Builder::new()
            .prefix("tmtk")
            // The server's account must pass through; the data folder itself is closed.
            .permissions(fs::Permissions::from_mode(0o711))
            .tempdir()
            .map_err(Error::io("making a temporary folder"))?;
        let place = ServerFiles {
            engine,
            account: Account::for_engine(engine)?,
            folder: folder.path().into(),
            log: folder.path().join("server.log"),
            port: free_port()?,
            programs: None,
        };
        place.make()?;
        Ok(Layout {
            place,
            _folder: folder,
        })
    }
}

impl Deref for Layout {
    type Target = ServerFiles;

    fn deref(&self) -> &ServerFiles {
        &self.place
    }
}
