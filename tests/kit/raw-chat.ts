import { connect } from "node:net";

/** Runs a streamed chat turn and returns the bytes of its answer, up to the end of the connection or of the answer. */
export function rawChat(url: string, apiKey: string, body: object): Promise<string> {
  const { hostname, port, host } = new URL(url);
  const sent = Buffer.from(JSON.stringify(body));
  const head = [
    "POST /v1/public/chat HTTP/1.1",
    `Host: ${host}`,
    `X-API-Key: ${apiKey}`,
    "Content-Type: application/json",
    `Content-Length: ${sent.byteLength}`,
  ];
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect(Number(port), hostname, () => socket.write(`${head.join("\r\n")}\r\n\r\n${sent}`));
  let received = "";
  socket.setEncoding("utf8");
  socket.on("data", (text: string) => {
    received += text;
    if (isComplete(received)) socket.destroy();
  });
  socket.on("error", () => {});
  socket.on("close", () => resolve(received));
  return promise;
}

/** Whether a chunked answer has its terminating chunk (RFC 9112, 7.1). */
export function isComplete(answer: string): boolean {
  return answer.endsWith("\r\n0\r\n\r\n");
}
