//! Registers this process with the server.

use std::time::Duration;

/// The number of attempts: the server may start later than this process.
const TRIES: u32 = 60;
const PAUSE: Duration = Duration::from_secs(1);

/// Registers a URL at the server's admin address.
///
/// # Errors
/// The server's refusal, or that it is not there.
pub(crate) async fn register(admin: &str, own: &str) -> Result<(), String> {
    let url = format!("{}/deployments", admin.trim_end_matches('/'));
    let body = serde_json::json!({ "uri": own }).to_string();
    // An error says that a provider is installed already.
    drop(rustls::crypto::ring::default_provider().install_default());
    let client = reqwest::Client::new();
    let mut last = String::new();
    for _ in 0..TRIES {
        let request = client.post(&url).header("content-type", "application/json").body(body.clone());
        match request.send().await {
            Ok(answer) if answer.status().is_success() => return Ok(()),
            Ok(answer) if answer.status().is_client_error() => {
                return Err(answer.text().await.unwrap_or_else(|error| error.to_string()));
            }
            Ok(answer) => last = answer.text().await.unwrap_or_else(|error| error.to_string()),
            Err(error) => last = error.to_string(),
        }
        tokio::time::sleep(PAUSE).await;
    }
    Err(format!("{last}, after {TRIES} tries"))
}
