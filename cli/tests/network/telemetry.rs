//! Traces and metrics for OpenTelemetry: what a collector and the tools of a run get.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Command, Output};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

const PROGRAM: &str = "; fn f(id: text) -> result any, text\n; Tools: 0=context 1=fails\n; Fields: 0=id\n\
    LET 1 CALL 0 0\nLET 2 CALL 1 1 0 REF 0\nMATCH 2 2\n  ERR 3 1\n    RET_OK REF 1\n  OK 4 1\n    RET_OK REF 4\n";
const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// A collector that answers with a status, and the requests that it got: head and body.
fn collector(status: &'static str) -> (String, Receiver<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (to, from) = channel();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(&stream);
            let (mut head, mut length) = (String::new(), 0);
            while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap_or_default() > 0 {
                if let Some(value) =
                    head.to_lowercase().lines().last().and_then(|line| line.strip_prefix("content-length:"))
                {
                    length = value.trim().parse().unwrap();
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            drop(to.send((head, serde_json::from_slice(&body).unwrap())));
            drop((&stream).write_all(
                format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{{}}").as_bytes(),
            ));
        }
    });
    (url, from)
}

fn run(variables: &[(&str, &str)]) -> Output {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("f.ilo", PROGRAM);
    write(
        "tools.json",
        r#"{"tools": {"context": {"command": ["sh", "-c", "echo \"\\\"$TRACEPARENT\\\"\""]}, "fails": {"mock": {"fails": "canary-message"}}}}"#,
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_ilo-vm"));
    command.args(["run", "f.ilo", "--tools", "tools.json", "--arg", "id=canary-argument"]);
    for name in ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_SERVICE_NAME", "OTEL_SDK_DISABLED", "TRACEPARENT"] {
        command.env_remove(name);
    }
    command.envs(variables.iter().copied()).current_dir(folder.path()).output().unwrap()
}

/// The text of an attribute.
fn attribute<'a>(of: &'a Value, name: &str) -> &'a str {
    let all = of["attributes"].as_array().unwrap();
    let found = all.iter().find(|attribute| attribute["key"] == name);
    found.and_then(|attribute| attribute["value"]["stringValue"].as_str()).unwrap_or_default()
}

#[test]
fn a_run_is_a_trace_and_a_call_a_span() {
    let (url, sent) = collector("200 OK");
    let headers = ("OTEL_EXPORTER_OTLP_HEADERS", "x-api-key=canary%2Dkey");
    let output = run(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &url), headers, ("TRACEPARENT", PARENT)]);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let (head, body) = sent.recv_timeout(Duration::from_secs(10)).unwrap();
    assert!(head.starts_with("POST /v1/traces HTTP/1.1"), "{head}");
    assert!(
        head.contains("x-api-key: canary-key") && head.contains("content-type: application/json"),
        "{head}"
    );
    let resource = &body["resourceSpans"][0];
    assert_eq!(attribute(&resource["resource"], "service.name"), "ilo-vm");
    let spans = resource["scopeSpans"][0]["spans"].as_array().unwrap();
    let names: Vec<&str> = spans.iter().map(|span| span["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["execute_tool context", "execute_tool fails", "invoke_workflow f"]);
    let [context, fails, run] = spans.as_slice() else { panic!("{spans:?}") };
    assert!(spans.iter().all(|span| span["traceId"] == "0af7651916cd43dd8448eb211c80319c"));
    assert_eq!(run["parentSpanId"], "b7ad6b7169203331");
    assert!(context["parentSpanId"] == run["spanId"] && fails["parentSpanId"] == run["spanId"]);
    let given = format!("00-0af7651916cd43dd8448eb211c80319c-{}-01", context["spanId"].as_str().unwrap());
    assert!(String::from_utf8_lossy(&output.stdout).contains(&given), "the command got its span");
    assert_eq!(attribute(context, "gen_ai.operation.name"), "execute_tool");
    assert_eq!(attribute(context, "gen_ai.tool.name"), "context");
    assert_eq!((attribute(fails, "error.type"), &fails["status"]["code"]), ("tool_error", &2.into()));
    assert_eq!(run["status"], serde_json::json!({}));
    let time = |span: &Value, name: &str| span[name].as_str().unwrap().parse::<u128>().unwrap();
    assert!(time(run, "startTimeUnixNano") <= time(context, "startTimeUnixNano"));
    assert!(time(context, "endTimeUnixNano") <= time(run, "endTimeUnixNano"));
    assert!(!body.to_string().contains("canary"), "arguments and messages stay here: {body}");
}

#[test]
fn without_a_collector_nothing_is_sent_and_a_bad_one_fails_no_run() {
    let (url, sent) = collector("503 Service Unavailable");
    for variables in
        [&[][..], &[("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str()), ("OTEL_SDK_DISABLED", "true")]]
    {
        assert!(run(variables).status.success());
        assert!(sent.try_recv().is_err());
    }
    let unsampled = PARENT.replace("-01", "-00");
    let traces = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", url.as_str());
    assert!(run(&[traces, ("TRACEPARENT", &unsampled)]).status.success());
    assert!(sent.try_recv().is_err());
    for (url, words) in [(url.as_str(), "HTTP status 503"), ("http://127.0.0.1:1/?key=canary", "refused")] {
        let output = run(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", url)]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.contains("warning: traces could not be sent"), "{said}");
        assert!(said.contains(words) && !said.contains("canary"), "{said}");
    }
    let output = run(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "canary")]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.code() == Some(2) && said.contains("OTEL_EXPORTER_OTLP_ENDPOINT: no URL"),
        "{said}"
    );
}

#[test]
fn runs_and_calls_are_measured() {
    let (url, sent) = collector("200 OK");
    let output = run(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &url), ("OTEL_TRACES_EXPORTER", "none")]);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let (head, body) = sent.recv_timeout(Duration::from_secs(10)).unwrap();
    assert!(head.starts_with("POST /v1/metrics HTTP/1.1"), "{head}");
    assert!(sent.try_recv().is_err(), "nothing else is sent");
    let resource = &body["resourceMetrics"][0];
    assert_eq!(attribute(&resource["resource"], "service.name"), "ilo-vm");
    let metrics = resource["scopeMetrics"][0]["metrics"].as_array().unwrap();
    let names: Vec<_> = metrics.iter().map(|metric| (&metric["name"], &metric["unit"])).collect();
    let second = &Value::from("s");
    let [run, tool] = ["gen_ai.invoke_workflow.duration", "gen_ai.execute_tool.duration"].map(Value::from);
    assert_eq!(names, [(&run, second), (&tool, second)]);
    let points = |at: usize| metrics[at]["histogram"]["dataPoints"].as_array().unwrap();
    let [run] = points(0).as_slice() else { panic!("{body}") };
    assert_eq!((attribute(run, "gen_ai.workflow.name"), attribute(run, "error.type")), ("f", ""));
    let [context, fails] = points(1).as_slice() else { panic!("{body}") };
    assert_eq!(attribute(context, "gen_ai.tool.name"), "context");
    assert_eq!(
        (attribute(fails, "gen_ai.tool.name"), attribute(fails, "error.type")),
        ("fails", "tool_error")
    );
    let took = |point: &Value| point["sum"].as_f64().unwrap();
    assert!(took(run) >= took(context) && [run, context, fails].iter().all(|point| point["count"] == "1"));
    assert!(!body.to_string().contains("canary"), "arguments and messages stay here: {body}");
}
