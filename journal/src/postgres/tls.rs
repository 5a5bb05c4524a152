//! TLS of connections: rustls, which checks the certificate and the name of the server.

use crate::error::{Error, ErrorCode, Result};
use rustls_native_certs::load_native_certs;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

/// Makes connections that are encrypted.
#[derive(Clone)]
pub(crate) struct Tls(Arc<ClientConfig>);

/// One that is being made.
pub(crate) struct Connecting {
    connector: TlsConnector,
    name: ServerName<'static>,
}

/// One that is made.
pub(crate) struct Encrypted<S>(client::TlsStream<S>);

impl Tls {
    /// Trusts the certificates of a file, or those of the system.
    pub(crate) fn new(roots: Option<&str>) -> Result<Tls> {
        let failed = |message: String| Error::new(ErrorCode::CannotOpen, message);
        let mut store = RootCertStore::empty();
        match roots {
            Some(file) => {
                let cannot = |error: &dyn std::fmt::Display| {
                    failed(format!("`{file}` of `sslrootcert` cannot be read: {error}"))
                };
                for certificate in CertificateDer::pem_file_iter(file).map_err(|error| cannot(&error))? {
                    let certificate = certificate.map_err(|error| cannot(&error))?;
                    store.add(certificate).map_err(|error| cannot(&error))?;
                }
            }
            None => {
                store.add_parsable_certificates(load_native_certs().certs);
            }
        }
        let provider = Arc::new(crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| failed(format!("TLS: {error}")))?
            .with_root_certificates(store)
            .with_no_client_auth();
        Ok(Tls(Arc::new(config)))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Tls {
    type Stream = Encrypted<S>;
    type TlsConnect = Connecting;
    type Error = io::Error;

    fn make_tls_connect(&mut self, name: &str) -> io::Result<Connecting> {
        let name = ServerName::try_from(name.to_owned()).map_err(io::Error::other)?;
        Ok(Connecting { connector: self.0.clone().into(), name })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for Connecting {
    type Stream = Encrypted<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move { Ok(Encrypted(self.connector.connect(self.name, stream).await?)) })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Encrypted<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Encrypted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, into)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Encrypted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
