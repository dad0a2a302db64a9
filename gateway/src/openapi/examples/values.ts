/** The values that the examples share: they tell one story, so that an ID in one is the ID that another returned. */
export const AGENT_ID = "agt_01m7yyhwdzeb28n9gms8rr2qyg";
export const OWNER_ID = "own_01m7yyhw5qfb5th4s9b3z1p0d8";
export const OWNER_SESSION_ID = "ses_01m7yyhwdzeb28n9gms8rr2qyg";
export const KEY_ID = "key_01m7yyhwdaf1m8q3s6v0x2y4z7";
export const DESTINATION_ID = "whd_01m7yyhwe3g2n9r4t7w1y3a5b8";
export const DELIVERY_ID = "dlv_01m7yyhweth3p0s5v8x2z4b6c9";
export const EVENT_ID = "evt_01m7yyhwfkj4q1t6w9y3a5c7d0";
export const CARRIER_ID = "car_01m7yyhwgbk5r2v7x0z4b6d8f1";
export const TWILIO_CARRIER_ID = "car_01m7yyhwgz3v8x2b6d0f4h7j1m";
export const WHATSAPP_CARRIER_ID = "car_01m7yyhwhq9z4d8f2h6k1m5p7r";
export const RECORD_ID = "cnv_01m7yyhwpyegyarwxc0gvz1xd5";
export const SESSION_ID = "0198c1f0-5a7b-7cc3-9c39-2f1d6f0a1b2c";
export const ALERT_ID = "alr_01m7yyhwqf4k7n1r5u8x2z6c9e";
export const TOOL_ID = "tol_01m7yyhwr5h8k2n6q0t3w7y1a4";
export const DOCUMENTS_HASH = "9f86d081884c7d65";
export const KNOWLEDGE_BASE_ID = "kb_01m7yyhws9j3m6r1v4x8z2b5c7";
export const CHUNK_ID = "chk_01m7yyhwu6m9q3t7x2z5b8d1f4";
export const DOCUMENT_ID = "doc_01m7yyhwt4k7n2s5w8y1a3d6f9";
export const TEST_ID = "tst_01m7yyhx0v8x2b6d0f4h7j1m5p";
export const RUN_ID = "run_01m7yyhx1r4t7w1y3a5c8e0g2j";
export const REPLAY_ID = "rpl_01m7yyhx2b6d0f4h7j1m5p8r2t";
export const SECRET_NAME = "shop_api_key";
export const PROMPT_NAME = "refunds";
export const PROMPT_LABEL = "production";
export const VOICE_ID = "acme-receptionist";
export const BATCH_ID = "bat_01m7yyhwq2c6f0j4m8s1v5x9z3";
export const CALL_ID = "call_01m7yyhwn1d5e9h3k7p2r6t0v4";
export const NUMBER = "+14155550123";

export const CREATED_AT = "2026-01-31T09:30:00.000Z";
export const UPDATED_AT = "2026-01-31T09:31:00.000Z";

export const ONE_PAGE = { total: 1, page: 1, page_size: 10, total_pages: 1 };
