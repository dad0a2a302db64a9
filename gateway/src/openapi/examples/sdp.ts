/** A browser's offer, shortened to what a call needs. */
export const SDP_OFFER = lines(
  "v=0",
  "o=- 4611731400430051336 2 IN IP4 127.0.0.1",
  "s=-",
  "t=0 0",
  "a=group:BUNDLE 0",
  "m=audio 9 UDP/TLS/RTP/SAVPF 111",
  "c=IN IP4 0.0.0.0",
  "a=rtcp:9 IN IP4 0.0.0.0",
  "a=candidate:1 1 udp 2113937151 192.0.2.17 51472 typ host",
  "a=end-of-candidates",
  "a=ice-ufrag:4ZcD",
  "a=ice-pwd:2/1muCWoOi3uLifh0NuRHlVb",
  "a=fingerprint:sha-256 6B:8B:F0:65:5F:78:E2:51:3B:AC:6F:F3:3F:46:1B:35:DC:B8:5F:64:1A:24:C2:43:F0:A1:58:D0:A1:2C:19:08",
  "a=setup:actpass",
  "a=mid:0",
  "a=sendrecv",
  "a=rtcp-mux",
  "a=rtpmap:111 opus/48000/2",
  "a=fmtp:111 minptime=10;useinbandfec=1",
  "a=ssrc:3570614608 cname:4TOk42mSjXCkVIa6",
);

export const SDP_ANSWER = lines(
  "v=0",
  "o=- 2890844526 0 IN IP4 0.0.0.0",
  "s=-",
  "t=0 0",
  "a=group:BUNDLE 0",
  "m=audio 9 UDP/TLS/RTP/SAVPF 111",
  "c=IN IP4 0.0.0.0",
  "a=candidate:6815297761 1 udp 2130706431 198.51.100.7 40112 typ host",
  "a=end-of-candidates",
  "a=ice-ufrag:9uB6",
  "a=ice-pwd:YH75Fviy6338Vbrhrlp8Yh",
  "a=fingerprint:sha-256 4A:AD:B9:B1:3F:82:18:3B:54:02:12:DF:3E:5D:49:6B:19:E5:7C:AB:3A:4B:65:2F:4B:7E:0C:93:E8:2D:71:55",
  "a=setup:active",
  "a=mid:0",
  "a=sendrecv",
  "a=rtcp-mux",
  "a=rtpmap:111 opus/48000/2",
);

function lines(...text: readonly string[]): string {
  return text.map((line) => `${line}\r\n`).join("");
}
