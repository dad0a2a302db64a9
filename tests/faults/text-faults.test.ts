// On one stack, because each takes seconds to boot. They start at the same time, so each has an owner of its own: a new session ends others.
import "./message-faults.ts";
import "./tool-faults.ts";
