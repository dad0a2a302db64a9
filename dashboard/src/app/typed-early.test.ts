import { expect, test } from "bun:test";
import { createTypedEarly } from "./typed-early.ts";

function press(at: EventTarget, key: string, modifiers: object = {}): boolean {
  const event = Object.assign(new Event("keydown", { cancelable: true }), { key, ...modifiers });
  return at.dispatchEvent(event);
}

test("what is typed before there is a field is kept from the page, and given once", () => {
  const page = new EventTarget();
  const typed = createTypedEarly(page);
  expect(press(page, "x")).toBeTrue();
  typed.begin();
  for (const key of ["n", "é", "w", " ", "b", "Backspace", "😀", "Enter"]) expect(press(page, key)).toBeFalse();
  for (const key of ["ArrowDown", "Shift"]) expect(press(page, key)).toBeTrue();
  expect(press(page, "k", { ctrlKey: true })).toBeTrue();
  expect(typed.take()).toBe("néw 😀");
  expect(press(page, "x")).toBeTrue();
  expect(typed.take()).toBe("");
});

test("whoever moves on or gives up has the keys back", () => {
  for (const key of ["Tab", "Escape"]) {
    const page = new EventTarget();
    createTypedEarly(page).begin();
    expect(press(page, key)).toBeTrue();
    expect(press(page, " ")).toBeTrue();
  }
});

test("what was typed for something that was closed before it appeared is forgotten", () => {
  const page = new EventTarget();
  const typed = createTypedEarly(page);
  const end = typed.begin();
  press(page, "a");
  end();
  expect(press(page, "b")).toBeTrue();
  typed.begin();
  press(page, "c");
  expect(typed.take()).toBe("c");
});
