import { CALLED, CALLER, invite } from "./messages.ts";
import type { Row } from "./sender.ts";

const ANSWERED = { status: 200, caller: CALLER, called: CALLED };
const description = (...media: string[]) => [
  "v=0",
  "o=- 1 1 IN IP4 127.0.0.1",
  "s=x",
  "c=IN IP4 127.0.0.1",
  "t=0 0",
  ...media,
];

/** What carriers, servers and telephones send, as far as it differs in form. Written after their documentation and traces. */
export const PEERS: readonly Row[] = [
  [
    "of Twilio's trunks",
    invite([
      "Record-Route: <sip:127.0.0.1:PORT;r2=on;transport=udp;ftag=86353914;lr>",
      `From: <sip:${CALLER}@pstn.twilio.com;isup-oli=62>;tag=86353914_c3356d0b`,
      `To: <sip:${CALLED}@127.0.0.1;user=phone>`,
      `Contact: <sip:${CALLER}@172.18.0.5:5060;transport=udp>`,
      `P-Asserted-Identity: <sip:${CALLER}@206.147.73.33:5060>`,
      "Diversion: <sip:+12145550199@public-vip.us1.twilio.com>;reason=unconditional",
      "X-Twilio-CallSid: CA0123456789abcdef0123456789abcdef",
    ]),
    ANSWERED,
  ],
  [
    "of Plivo's trunks",
    invite([`From: "${CALLER}" <sip:${CALLER}@sip.plivo.com>;tag=4Fp5jD`, "X-PH-CallUUID: 0b7a", "Privacy: none"]),
    ANSWERED,
  ],
  [
    "of Telnyx",
    invite([
      `From: "LOVELACE,ADA    " <sip:${CALLER}@sip.telnyx.com>;tag=HgQ8m`,
      `P-Asserted-Identity: "LOVELACE,ADA" <sip:${CALLER}@10.0.0.1;user=phone>`,
      "P-Early-Media: supported",
      "Allow: INVITE, ACK, BYE, CANCEL, OPTIONS, MESSAGE, INFO, UPDATE, REGISTER, REFER, NOTIFY, PUBLISH, SUBSCRIBE",
    ]),
    ANSWERED,
  ],
  [
    "of Asterisk",
    invite(
      [
        `From: "Ada" <sip:4155550123@127.0.0.1>;tag=4f6d-8c1a`,
        "Supported: 100rel, timer, replaces, norefersub, histinfo",
        "Session-Expires: 1800",
        "Min-SE: 90",
        `Contact: <sip:asterisk@127.0.0.1:PORT>`,
      ],
      {
        body: description(
          "m=audio RTP_PORT RTP/AVP 0 8 101",
          "a=rtpmap:0 PCMU/8000",
          "a=rtpmap:8 PCMA/8000",
          "a=rtpmap:101 telephone-event/8000",
          "a=fmtp:101 0-16",
          "a=ptime:20",
          "a=maxptime:150",
          "a=sendrecv",
        ),
      },
    ),
    ANSWERED,
  ],
  [
    "of FreeSWITCH",
    invite(
      [
        `From: "Ada" <sip:14155550123@127.0.0.1>;tag=vD6ZmXQB5e3DB`,
        `Remote-Party-ID: "Ada" <sip:14155550123@127.0.0.1>;party=calling;screen=yes;privacy=off`,
        "X-FS-Support: update_display,send_info",
        "Contact: <sip:mod_sofia@127.0.0.1:PORT>",
      ],
      {
        body: description(
          "m=audio RTP_PORT RTP/AVP 102 9 0 8 103 101",
          "a=rtpmap:102 opus/48000/2",
          "a=fmtp:102 useinbandfec=1; maxaveragebitrate=30000",
          "a=rtpmap:103 telephone-event/48000",
          "a=rtpmap:101 telephone-event/8000",
          "a=silenceSupp:off - - - -",
        ),
      },
    ),
    ANSWERED,
  ],
  [
    "that came through Kamailio",
    invite([
      "Record-Route: <sip:127.0.0.1;transport=tcp;r2=on;lr=on;ftag=as5;nat=yes>, <sip:127.0.0.1;r2=on;lr=on;ftag=as5;nat=yes>",
      "Via: SIP/2.0/UDP 127.0.0.1:PORT;branch=z9hG4bKUNIQUE;rport;i=a1",
      "Via: SIP/2.0/TLS 10.0.0.7:49152;received=192.0.2.7;rport=49152;branch=z9hG4bKx, SIP/2.0/UDP 10.0.0.8",
    ]),
    ANSWERED,
  ],
  [
    "of a Yealink telephone",
    invite([
      `From: "Ada Lovelace" <sip:${CALLER}@127.0.0.1>;tag=1879843219`,
      "Contact: <sip:1001@127.0.0.1:PORT>",
      "User-Agent: Yealink SIP-T46S 66.85.0.5",
      "Allow-Events: talk,hold,conference,refer,check-sync",
    ]),
    ANSWERED,
  ],
  [
    "of a Poly telephone",
    invite([
      `From: "Ada" <sip:${CALLER}@127.0.0.1>;tag=D5E3C7A1-4B9A`,
      `Contact: <sip:1001@127.0.0.1:PORT>;+sip.instance="<urn:uuid:0004f2aa-bbcc-1dd2-0000-000000000001>";reg-id=1`,
      "Accept-Language: en",
    ]),
    ANSWERED,
  ],
  [
    "of a Cisco gateway",
    invite([
      `From: "Ada" <sip:${CALLER}@127.0.0.1>;tag=85DC5C4-1B2E`,
      `Remote-Party-ID: "Ada" <sip:${CALLER}@127.0.0.1;x-cisco-callback-number=4155550123>;party=calling;id-type=subscriber;privacy=off;screen=yes`,
      `Call-Info: <sip:127.0.0.1:PORT>;method="NOTIFY;Event=telephone-event;Duration=2000"`,
      "Cisco-Guid: 1535265792-0000065536-0000000044-3362138122",
      "Session-Expires: 1800",
      "Content-Disposition: session;handling=required",
    ]),
    ANSWERED,
  ],
  [
    "of a Grandstream adapter",
    invite([
      `From: "Ada" <sip:${CALLER}@127.0.0.1;user=phone>;tag=1462382930`,
      `P-Preferred-Identity: "Ada" <sip:${CALLER}@127.0.0.1;user=phone>`,
      "Privacy: none",
      "Supported: replaces, path, timer, eventlist",
    ]),
    ANSWERED,
  ],
  [
    "of baresip",
    invite([
      `From: "Ada \\"C\\"" <sip:${CALLER}@127.0.0.1>;tag=efa91fda3f1a0385`,
      "Contact: <sip:ada-0x5580c5e0@127.0.0.1:PORT>",
      "Allow: INVITE,ACK,BYE,CANCEL,OPTIONS,NOTIFY,SUBSCRIBE,INFO,MESSAGE,UPDATE,REFER",
    ]),
    ANSWERED,
  ],
  [
    "of Linphone",
    invite(
      [
        `From: "Ada Lovelace" <sip:${CALLER}@127.0.0.1>;tag=tkp~oXZ5O`,
        `Contact: <sip:ada@127.0.0.1:PORT>;+sip.instance="<urn:uuid:1ac1e6ee>";+org.linphone.specs="groupchat/1.2,lime"`,
        "Supported: replaces, outbound, gruu, path, record-aware",
      ],
      {
        body: description(
          "m=audio RTP_PORT RTP/AVPF 96 97 0 8 101 98",
          "a=rtpmap:96 opus/48000/2",
          "a=rtpmap:97 speex/16000",
          "a=rtpmap:101 telephone-event/48000",
          "a=rtpmap:98 telephone-event/8000",
          "a=rtcp-fb:* trr-int 1000",
          "a=rtcp-xr:rcvr-rtt=all:10000 stat-summary=loss,dup,jitt,TTL voip-metrics",
        ),
      },
    ),
    ANSWERED,
  ],
  [
    "of a mobile network (IMS)",
    invite(
      [
        `From: <tel:${CALLER}>;tag=h7g4Esbg_p65547t`,
        `To: <tel:${CALLED}>`,
        `P-Asserted-Identity: "Ada" <sip:${CALLER}@ims.example>, <tel:${CALLER}>`,
        'P-Charging-Vector: icid-value="1;2,3";icid-generated-at=10.0.0.1;orig-ioi="home1.example"',
        'Accept-Contact: *;+g.3gpp.icsi-ref="urn%3Aurn-7%3A3gpp-service.ims.icsi.mmtel"',
        "Privacy: none",
      ],
      { uri: `tel:${CALLED};npdi;rn=+12145550000` },
    ),
    ANSWERED,
  ],
];
