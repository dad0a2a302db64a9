// The chat on customers' pages (docs/widget.md): <script src="https://…/widget.js" data-agent="agt_…" async></script>
// It runs in pages of others, so it has no dependency, touches nothing outside of its own element but one symbol of the window, and
// writes whatever agent and visitor say as text.
(() => {
  const script = document.currentScript;
  if (!(script instanceof HTMLScriptElement)) return;
  const agentId = script.dataset.agent ?? "";
  const base = new URL(script.src).origin;
  /** @type {Record<symbol, Set<string> | undefined>} */
  const page = /** @type {any} */ (window);
  const key = Symbol.for("parley-chat");
  /** Agents whose chat is on its way: a page may have the script twice. */
  const beginning = page[key] ?? new Set();
  page[key] = beginning;
  const isShown = document.querySelector(`parley-chat[data-agent="${CSS.escape(agentId)}"]`) !== null;
  if (agentId === "" || isShown || beginning.has(agentId)) return;
  beginning.add(agentId);

  const STORE = `parley ${base} ${agentId}`;
  /** Kept for the next page of the visit. */
  const MESSAGES_MAX = 50;
  const MESSAGE_CHARACTERS_MAX = 4000;
  /** A token is renewed when it is valid for no longer than this. */
  const SPARE_MS = 30_000;

  // ---- What is kept while the visitor goes from page to page ----

  /**
   * @typedef {{ role: string, text: string, sources?: string[] }} Kept
   * @type {{ token?: string, expiresAt?: number, messages: Kept[], isOpen?: boolean }}
   */
  let kept = { messages: [] };
  try {
    const found = JSON.parse(sessionStorage.getItem(STORE) ?? "null");
    if (Array.isArray(found?.messages)) kept = found;
  } catch {
    // Without storage, the chat lasts as long as the page.
  }
  const keep = () => {
    kept.messages = kept.messages.slice(-MESSAGES_MAX);
    try {
      sessionStorage.setItem(STORE, JSON.stringify(kept));
    } catch {
      // As above.
    }
  };

  // ---- The gateway ----

  /**
   * What the gateway answers to a page that may chat.
   * @typedef {{ token: string, expires_at: string, agent_name?: string, widget_config?: Record<string, unknown> }} Granted
   */

  class Refusal extends Error {
    /** @param {number} status @param {string} detail */
    constructor(status, detail) {
      super(detail);
      this.status = status;
    }
  }

  /** Between two streams of what an operator writes. */
  const RECONNECT_MS = 3_000;
  /** @param {unknown} error @returns {number} 0 if it is no refusal */
  const statusOf = (error) => (error instanceof Refusal ? error.status : 0);

  /** @param {string} path @param {object} body @param {Record<string, string>} headers */
  async function post(path, body, headers = {}) {
    const response = await fetch(base + path, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
      credentials: "omit",
    });
    if (response.ok) return response;
    const problem = await response.json().catch(() => ({}));
    throw new Refusal(response.status, String(problem.detail ?? response.status));
  }

  /**
   * Asks for a token, for the session of an earlier one if it is given.
   * @param {string} [earlier]
   * @returns {Promise<Granted>}
   */
  async function askForToken(earlier) {
    const response = await post("/v1/public/widget-tokens", { agent_id: agentId, ...(earlier && { token: earlier }) });
    const answer = await response.json();
    kept.token = answer.token;
    kept.expiresAt = Date.parse(answer.expires_at);
    keep();
    return answer;
  }

  async function freshToken() {
    if (kept.token && (kept.expiresAt ?? 0) - Date.now() > SPARE_MS) return kept.token;
    try {
      return (await askForToken(kept.token)).token;
    } catch (error) {
      if (statusOf(error) !== 401 || !kept.token) throw error;
      return (await askForToken()).token;
    }
  }

  /** Whether visitors see which documents a reply is from. */
  let showsSources = false;

  /** @param {string} token @param {string} message */
  const ask = async (token, message) =>
    post(
      "/v1/public/widget-messages",
      { message },
      { Authorization: `Bearer ${token}`, ...(showsSources && { Accept: "text/event-stream" }) },
    );

  /** Sends a message; a session that has ended is followed by a new one. @param {string} message */
  async function send(message) {
    try {
      return await ask(await freshToken(), message);
    } catch (error) {
      if (!isOver(error)) throw error;
      return ask((await askForToken()).token, message);
    }
  }

  /** @param {unknown} error */
  const isOver = (error) =>
    error instanceof Refusal &&
    (error.status === 401 || (error.status === 400 && error.message === "Session has ended"));

  // ---- What is seen ----

  /**
   * @template {keyof HTMLElementTagNameMap} N
   * @param {N} name
   * @param {Record<string, string | number | boolean>} properties
   * @param {Record<string, string>} attributes
   * @param {(Node | string)[]} children
   * @returns {HTMLElementTagNameMap[N]}
   */
  const element = (name, properties = {}, attributes = {}, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
    made.append(...children);
    return made;
  };

  const host = document.createElement("parley-chat");
  host.dataset.agent = agentId;
  const root = host.attachShadow({ mode: "open" });
  const style = new CSSStyleSheet();
  style.replaceSync(`
    :host { all: initial; --color: #1f5eff; --on-color: #fff; position: fixed; z-index: 2147483000; bottom: 20px; right: 20px;
      font: 15px/1.45 system-ui, sans-serif; color: #16181d; color-scheme: light; }
    :host([data-corner="bottom-left"]) { right: auto; left: 20px; }
    * { box-sizing: border-box; font: inherit; }
    button { cursor: pointer; border: 0; }
    button:focus-visible, textarea:focus-visible { outline: 3px solid var(--color); outline-offset: 2px; }
    .launcher { width: 56px; height: 56px; border-radius: 50%; background: var(--color); color: var(--on-color);
      box-shadow: 0 4px 16px #0003; float: right; }
    .launcher::before { content: ""; display: block; width: 26px; height: 26px; margin: auto; background: currentColor;
      clip-path: path("M5 3h16a3 3 0 0 1 3 3v11a3 3 0 0 1-3 3H11l-6 5v-5a3 3 0 0 1-3-3V6a3 3 0 0 1 3-3z"); }
    :host([data-corner="bottom-left"]) .launcher { float: left; }
    .panel { display: flex; flex-direction: column; width: min(380px, calc(100vw - 40px)); height: min(580px, calc(100vh - 110px));
      margin-bottom: 12px; background: #fff; border-radius: 14px; overflow: hidden; box-shadow: 0 8px 40px #0004; }
    .panel[hidden] { display: none; }
    header { display: flex; gap: 10px; align-items: center; padding: 12px 14px; background: var(--color); color: var(--on-color); }
    header img { width: 36px; height: 36px; border-radius: 50%; object-fit: cover; }
    h2 { margin: 0; font-weight: 600; overflow-wrap: anywhere; }
    header p { margin: 0; font-size: 13px; overflow-wrap: anywhere; }
    .close { margin-left: auto; background: none; color: inherit; font-size: 22px; padding: 2px 8px; }
    .log { flex: 1; overflow-y: auto; padding: 14px; display: flex; flex-direction: column; gap: 8px; }
    .line { display: contents; }
    .message { max-width: 85%; padding: 8px 12px; border-radius: 12px; background: #eef0f4; white-space: pre-wrap;
      overflow-wrap: anywhere; align-self: flex-start; }
    .message.user { align-self: flex-end; background: var(--color); color: var(--on-color); }
    .sources { max-width: 85%; margin: -4px 0 0; padding: 0 12px; color: #5b6270; font-size: 12px; overflow-wrap: anywhere; }
    .message:empty::after { content: "…"; }
    .suggestions { display: flex; flex-wrap: wrap; gap: 6px; padding: 0 14px 8px; }
    .suggestions button { padding: 6px 10px; border-radius: 14px; background: #fff; color: inherit; border: 1px solid #8a90a0; }
    .notice { margin: 0; padding: 0 14px 6px; color: #a3121f; font-size: 13px; min-height: 0; }
    form { display: flex; gap: 8px; padding: 10px; border-top: 1px solid #d9dce3; }
    textarea { flex: 1; resize: none; padding: 8px 10px; border: 1px solid #8a90a0; border-radius: 10px; color: inherit; background: #fff; }
    .send { padding: 0 14px; border-radius: 10px; background: var(--color); color: var(--on-color); }
    .send:disabled { opacity: .5; cursor: default; }
    .hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
    @media (prefers-reduced-motion: no-preference) { .log { scroll-behavior: smooth; } }
  `);
  root.adoptedStyleSheets = [style];

  const launcher = element(
    "button",
    { className: "launcher", type: "button" },
    { "aria-label": "Open chat", "aria-expanded": "false", "aria-controls": "panel" },
  );
  const title = element("h2", { id: "title" });
  const subtitle = element("p");
  const close = element(
    "button",
    { className: "close", type: "button", textContent: "×" },
    { "aria-label": "Close chat" },
  );
  const header = element("header", {}, {}, element("div", {}, {}, title, subtitle), close);
  const log = element(
    "div",
    { className: "log", tabIndex: 0 },
    { role: "log", "aria-live": "polite", "aria-label": "Messages" },
  );
  const suggestions = element("div", { className: "suggestions" });
  const notice = element("p", { className: "notice" }, { role: "alert" });
  const input = element("textarea", { rows: 1, maxLength: MESSAGE_CHARACTERS_MAX, id: "input" });
  const label = element("label", { className: "hidden", htmlFor: "input", textContent: "Your message" });
  const submit = element("button", { className: "send", type: "submit", textContent: "Send" });
  const form = element("form", {}, {}, label, input, submit);
  const panel = element(
    "section",
    { className: "panel", id: "panel", hidden: true },
    { role: "dialog", "aria-labelledby": "title" },
    header,
    log,
    suggestions,
    notice,
    form,
  );
  root.append(panel, launcher);

  /** @param {unknown} value @param {string} fallback */
  const text = (value, fallback = "") => (typeof value === "string" && value !== "" ? value : fallback);

  /** @param {Granted} granted */
  function show({ agent_name: name, widget_config: config = {} }) {
    showsSources = config.show_sources === true;
    title.textContent = text(config.title, text(name, "Chat"));
    subtitle.textContent = text(config.subtitle);
    input.placeholder = text(config.placeholder, "Write a message");
    host.dataset.corner = config.position === "bottom-left" ? "bottom-left" : "bottom-right";
    const color = text(config.primary_color);
    if (/^#[0-9a-f]{6}$/i.test(color)) {
      host.style.setProperty("--color", color);
      host.style.setProperty("--on-color", isLight(color) ? "#16181d" : "#fff");
    }
    const avatar = text(config.avatar_url);
    if (avatar.startsWith("https://")) {
      header.prepend(element("img", { src: avatar, alt: "", referrerPolicy: "no-referrer" }));
    }
    const greeting = text(config.greeting);
    if (kept.messages.length === 0 && greeting !== "") add("assistant", greeting);
    for (const { role, text: said, sources } of kept.messages) cite(add(role, said), sources);
    const proposals = Array.isArray(config.suggested_messages) ? config.suggested_messages.slice(0, 5) : [];
    if (kept.messages.length > 0) return;
    for (const proposal of proposals.filter((each) => typeof each === "string")) {
      const button = element("button", { type: "button", textContent: proposal });
      button.addEventListener("click", () => say(proposal));
      suggestions.append(button);
    }
  }

  /** Whether dark letters are read better on the color (WCAG 2: relative luminance). @param {string} color `#rrggbb` */
  function isLight(color) {
    /** @param {number} at */
    const light = (at) => {
      const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
      return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    };
    return 0.2126 * light(1) + 0.7152 * light(3) + 0.0722 * light(5) > 0.179;
  }

  /** @param {string} role @param {string} said */
  function add(role, said) {
    const message = element("div", {
      className: `message ${role === "user" ? "user" : "assistant"}`,
      textContent: said,
    });
    const by = element("span", { className: "hidden", textContent: role === "user" ? "You: " : "Agent: " });
    log.append(element("div", { className: "line" }, {}, by, message));
    log.scrollTop = log.scrollHeight;
    return message;
  }

  /** Says below a reply which documents it is from. @param {HTMLElement} message @param {string[]} [names] */
  function cite(message, names = []) {
    if (names.length === 0) return;
    message.after(element("p", { className: "sources", textContent: `Sources: ${names.join(", ")}` }));
    log.scrollTop = log.scrollHeight;
  }

  // ---- What happens ----

  let isBusy = false;

  /** @param {string} given */
  async function say(given) {
    const message = given.trim();
    if (message === "" || isBusy) return;
    isBusy = true;
    submit.disabled = true;
    notice.textContent = "";
    suggestions.replaceChildren();
    const asked = add("user", message);
    // Kept at once: the visitor may leave the page before the answer, which the agent gives nevertheless.
    kept.messages.push({ role: "user", text: message });
    keep();
    input.value = "";
    // Read out once it is whole, and not word by word.
    log.setAttribute("aria-busy", "true");
    const reply = add("assistant", "");
    /** @type {string[]} */
    let sources = [];
    try {
      const response = await send(message);
      const isEvents = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
      const hear = (/** @type {string} */ text) => {
        reply.textContent += text;
        log.scrollTop = log.scrollHeight;
      };
      if (isEvents) sources = await readEvents(response, hear);
      else await read(response, hear);
      cite(reply, sources);
    } catch (error) {
      notice.textContent = wordsFor(error, reply.textContent !== "");
      if (reply.textContent === "") {
        // Back into the field, before what the visitor has written since then.
        for (const { parentElement: line } of [asked, reply]) line?.remove();
        kept.messages.pop();
        input.value = input.value === "" ? message : `${message}\n${input.value}`;
      }
    } finally {
      // An operator answers: what they write comes by itself.
      if (reply.textContent === "") reply.parentElement?.remove();
      if (reply.isConnected) kept.messages.push({ role: "assistant", text: reply.textContent ?? "", sources });
      keep();
      log.setAttribute("aria-busy", "false");
      isBusy = false;
      submit.disabled = false;
      input.focus();
      void follow();
    }
  }

  let isFollowing = false;

  /** Shows what an operator writes, while the chat goes on. */
  async function follow() {
    if (isFollowing || !kept.messages.some(({ role }) => role === "user")) return;
    isFollowing = true;
    try {
      for (;;) {
        const headers = { Authorization: `Bearer ${await freshToken()}`, ...(lastId && { "Last-Event-ID": lastId }) };
        const response = await fetch(`${base}/v1/public/widget-events`, { headers, credentials: "omit" });
        if (response.status !== 200) return;
        let rest = "";
        await read(response, (piece) => {
          const blocks = (rest + piece).split("\n\n");
          rest = blocks.pop() ?? "";
          for (const block of blocks) hear(block);
        });
        await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
      }
    } catch {
      // The next message tries again.
    } finally {
      isFollowing = false;
    }
  }

  /** The newest event of this page's stream. */
  let lastId = "";

  /** @param {string} block a server-sent event */
  function hear(block) {
    const fields = Object.fromEntries(
      block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
    );
    if (fields.id) lastId = fields.id;
    const data = fields.data ? JSON.parse(fields.data) : {};
    if (fields.event === "message") showOperators([data]);
    if (fields.event === "snapshot") {
      const known = kept.messages.filter(({ role }) => role === "operator").length;
      showOperators(data.messages.filter(byOperator).slice(known));
    }
  }

  /** @param {{ by?: string }} message */
  const byOperator = ({ by }) => by === "operator";

  /** @param {{ by?: string, content: string }[]} messages */
  function showOperators(messages) {
    for (const { content } of messages.filter(byOperator)) {
      add("assistant", content);
      kept.messages.push({ role: "operator", text: content });
    }
    keep();
  }

  /** @param {Response} response @param {(text: string) => void} hear */
  async function read(response, hear) {
    const reader = response.body?.getReader();
    if (!reader) return;
    const decoder = new TextDecoder();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      hear(decoder.decode(value, { stream: true }));
    }
  }

  /**
   * The same of a reply as server-sent events.
   * @param {Response} response @param {(text: string) => void} hear
   * @returns {Promise<string[]>} the names of the documents that it is from
   * @throws if the reply is not whole
   */
  async function readEvents(response, hear) {
    let unread = "";
    /** @type {string[] | null} */
    let names = null;
    await read(response, (piece) => {
      const events = (unread + piece).split("\n\n");
      unread = events.pop() ?? "";
      for (const event of events) {
        const [name, data] = event.split("\n").map((line) => line.slice(line.indexOf(": ") + 2));
        const { text: words = "", sources = [] } = JSON.parse(data ?? "{}");
        if (name === "text") hear(words);
        if (name === "done") names = [...new Set(sources.map((/** @type {{ name: string }} */ source) => source.name))];
      }
    });
    if (names === null) throw new Error("the reply was cut off");
    return names;
  }

  /** @param {unknown} error @param {boolean} hasBegun whether some of the answer has come */
  function wordsFor(error, hasBegun) {
    if (hasBegun) return "The answer was cut off. Please ask again.";
    if (statusOf(error) === 429) return "Too many messages. Please wait a moment and try again.";
    if (statusOf(error) === 409) return "The last answer is still being written.";
    return "The message could not be sent. Please try again.";
  }

  /** @param {boolean} isOpen */
  function open(isOpen, movesFocus = true) {
    panel.hidden = !isOpen;
    launcher.setAttribute("aria-expanded", String(isOpen));
    launcher.setAttribute("aria-label", isOpen ? "Close chat" : "Open chat");
    kept.isOpen = isOpen;
    keep();
    if (!movesFocus) return;
    if (isOpen) input.focus();
    else launcher.focus();
  }

  launcher.addEventListener("click", () => open(Boolean(panel.hidden)));
  close.addEventListener("click", () => open(false));
  panel.addEventListener("keydown", (event) => {
    if (event.key === "Escape") open(false);
    // The page must not take letters for its own shortcuts.
    event.stopPropagation();
  });
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    void say(input.value);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void say(input.value);
  });

  async function begin() {
    let answer;
    try {
      answer = await askForToken(kept.token);
    } catch (error) {
      if (statusOf(error) === 401 && kept.token) {
        kept = { messages: [] };
        answer = await askForToken();
      } else throw error;
    }
    show(answer);
    document.body.append(host);
    if (kept.isOpen) open(true, false);
    void follow();
  }

  const start = () =>
    begin()
      .catch((error) => {
        // biome-ignore lint/suspicious/noConsole: for whoever puts the widget on the page; visitors see no chat rather than a broken one
        console.error(`Parley's chat is not shown: ${error.message}`);
      })
      .finally(() => beginning.delete(agentId));
  if (document.body) void start();
  else document.addEventListener("DOMContentLoaded", () => void start());
})();
