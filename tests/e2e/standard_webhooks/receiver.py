"""receiver.py SECRET_FILE...

Receives webhooks on a free port of 127.0.0.1, which it prints, and has the public library verify each with each
secret. A path says with which of them it must verify, for example /0-1: the first and the second, and no other.
Answers 200 when it is so, 422 with the reason when it is not.
"""

import base64
import hashlib
import sys
import urllib.parse
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

WEBHOOKS = [Webhook(Path(file).read_text().strip()) for file in sys.argv[1:]]


def verifies(webhook, body, headers):
    try:
        webhook.verify(body, headers, json_parse=False)
        return True
    except WebhookVerificationError:
        return False


def fault_of(path, body, headers):
    expected = [int(number) for number in path.strip("/").split("-")]
    found = [number for number, webhook in enumerate(WEBHOOKS) if verifies(webhook, body, headers)]
    if found != expected:
        return f"verified with {found}, not with {expected}"
    if any(verifies(webhook, body + b" ", headers) for webhook in WEBHOOKS):
        return "verified with another body"
    event = urllib.parse.unquote_to_bytes(headers["idempotency-key"])
    digest = base64.urlsafe_b64encode(hashlib.sha256(event).digest()).decode().rstrip("=")
    return "" if headers["webhook-id"] == "evt_" + digest else "the id is not that of the event"


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        fault = fault_of(self.path, body, {name.lower(): value for name, value in self.headers.items()}).encode()
        self.send_response(422 if fault else 200)
        self.send_header("Content-Length", str(len(fault)))
        self.end_headers()
        self.wfile.write(fault)

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_port, flush=True)
server.serve_forever()
