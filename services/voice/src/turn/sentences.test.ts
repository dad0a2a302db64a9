import { expect, test } from "bun:test";
import fc from "fast-check";
import { SENTENCE_MIN, sentenceCutter, spokenLength } from "./sentences.ts";

function cut(pieces: readonly string[]): string[] {
  const cutter = sentenceCutter();
  return [...pieces.flatMap((piece) => cutter.push(piece)), cutter.end()].filter((part) => part !== "");
}

const pieces = fc.array(
  fc
    .array(
      fc.constantFrom(
        "a",
        "Dr",
        "5",
        ".",
        "!",
        "?",
        " ",
        " ",
        "\n",
        "word",
        "The",
        "。",
        "語",
        "…",
        '"',
        "है",
        "।",
        "ไทย",
        "،",
        "x".repeat(90),
      ),
      {
        maxLength: 20,
      },
    )
    .map((units) => units.join("")),
  { maxLength: 30 },
);

test("the parts together are the text, and all but the last can be spoken on their own", () => {
  fc.assert(
    fc.property(pieces, (given) => {
      const parts = cut(given);
      expect(parts.join("")).toBe(given.join(""));
      for (const part of parts.slice(0, -1)) expect(spokenLength(part.trim())).toBeGreaterThanOrEqual(SENTENCE_MIN);
    }),
  );
});

test("the cuts do not depend on how the text arrives", () => {
  fc.assert(
    fc.property(pieces, (given) => {
      const whole = given.join("");
      expect(cut([...whole])).toEqual(cut([whole]));
    }),
  );
});

test.each([
  [
    "Dr. Smith can see you at 3 p.m. on Tuesday. Does that suit you?",
    ["Dr. Smith can see you at 3 p.m. on Tuesday. ", "Does that suit you?"],
  ],
  [
    "The total comes to $1,299.50 with tax. Shall I go on?",
    ["The total comes to $1,299.50 with tax. ", "Shall I go on?"],
  ],
  ["We are closed until the 3. March this year. Sorry!", ["We are closed until the 3. March this year. ", "Sorry!"]],
  ["Bring a document, e.g. a passport. We open at nine.", ["Bring a document, e.g. a passport. ", "We open at nine."]],
  [
    "El señor García y la Sra. López llegan. ¿Le parece bien?",
    ["El señor García y la Sra. López llegan. ", "¿Le parece bien?"],
  ],
  ["Wir sehen uns dann, z.B. Montag um zehn. Gut?", ["Wir sehen uns dann, z.B. Montag um zehn. ", "Gut?"]],
  ["この商品の重さは約３．５キログラムです。はい", ["この商品の重さは約３．５キログラムです。", "はい"]],
  ["Yes. No. Well, that depends on the day.", ["Yes. No. Well, that depends on the day."]],
  ["We open at nine in the morning! Anything else?", ["We open at nine in the morning! ", "Anything else?"]],
])("%p is cut between its sentences only", (text, sentences) => expect(cut([text])).toEqual(sentences));

test.each<[string, ...string[]]>([
  ["Hindi", "नमस्ते, आपका स्वागत है। ", "हमारी दुकान सुबह नौ बजे खुलती है। ", "शाम को आठ बजे बंद हो जाती है।"],
  ["Hindi with a Latin full stop", "हमारी दुकान सुबह नौ बजे खुलती है. ", "शाम को आठ बजे बंद हो जाती है."],
  ["Sanskrit", "धर्मक्षेत्रे कुरुक्षेत्रे समवेता युयुत्सवः॥ ", "मामकाः पाण्डवाश्चैव किमकुर्वत सञ्जय॥"],
  ["Bengali", "আমাদের দোকান সকাল নয়টায় খোলে। ", "রাত আটটায় বন্ধ হয়।"],
  ["Urdu", "ہماری دکان صبح نو بجے کھلتی ہے۔ ", "کیا آپ آج تشریف لائیں گے؟ ", "ہم آٹھ بجے بند کرتے ہیں۔"],
  ["Arabic", "هل تريد أن تحجز موعداً اليوم؟ ", "نحن مفتوحون حتى الثامنة."],
  ["Chinese", "您好，欢迎光临我们的商店。", "我们早上九点开门！", "晚上八点关门。"],
  ["Japanese", "いらっしゃいませ。", "何名様でしょうか？", "「少々お待ちください。」", "ありがとう。"],
  ["Burmese", "ကျွန်ုပ်တို့ဆိုင်သည် နံနက်ကိုးနာရီတွင် ဖွင့်သည်။ ", "ညရှစ်နာရီတွင် ပိတ်သည်။"],
  ["Khmer", "ហាងរបស់យើងបើកនៅម៉ោងប្រាំបួនព្រឹក។ ", "វាបិទនៅម៉ោងប្រាំបីយប់។"],
  ["Thai", "ร้านของเราเปิดเวลาเก้าโมงเช้า ", "และปิดเวลาสองทุ่มทุกวันค่ะ ", "มีอะไรให้ช่วยไหมคะ"],
  ["Armenian", "Մեր խանութը բացվում է ժամը իննին։ ", "Այն փակվում է ութին։"],
  ["Amharic", "ሱቃችን በጠዋቱ ሦስት ሰዓት ይከፈታል። ", "ማታ ሁለት ሰዓት ይዘጋል።"],
  ["Greek", "Θέλετε να κλείσετε ραντεβού σήμερα; ", "Είμαστε ανοιχτά μέχρι τις οκτώ."],
])("in %s, a voice gets each sentence as soon as the next has begun", (_language, ...sentences) => {
  const cutter = sentenceCutter();
  const heard: string[] = [];
  for (const character of sentences.slice(0, -1).join("") + (sentences.at(-1)?.[0] ?? ""))
    heard.push(...cutter.push(character));
  expect(heard).toEqual(sentences.slice(0, -1));
});

test.each([
  ["words without a mark", "word ".repeat(300), /^(?:word )+$/],
  ["clauses", "We have tea, coffee, cake and bread, ".repeat(40), /, $/],
  ["Thai without spaces", "ร้านของเราเปิดเวลาเก้าโมงเช้า".repeat(30), /./],
  ["Chinese without marks", "我们的商店早上九点开门".repeat(40), /./],
  ["Khmer without marks", "ហាងរបស់យើងបើកនៅម៉ោងប្រាំបួន".repeat(30), /./],
])("a text of %s is cut before it gets long, and never within a word", (_what, text, form) => {
  const parts = cut([text]);
  expect(parts.length).toBeGreaterThan(3);
  const words = new Set(
    [...new Intl.Segmenter(undefined, { granularity: "word" }).segment(text)].map(({ index }) => index),
  );
  let at = 0;
  for (const part of parts.slice(0, -1)) {
    expect(spokenLength(part)).toBeLessThanOrEqual(200);
    expect(part).toMatch(form);
    at += part.length;
    expect(words.has(at)).toBe(true);
  }
});

test("a word without end is cut too", () => {
  const parts = cut(["a".repeat(450)]);
  expect(parts.map(({ length }) => length)).toEqual([200, 200, 50]);
});

test("an abbreviation, an ordinal or a number of another script ends no sentence", () => {
  expect(cut(["कृपया बताइए कि आप डॉ. शर्मा से कब मिलना चाहते हैं। धन्यवाद।"])).toEqual([
    "कृपया बताइए कि आप डॉ. शर्मा से कब मिलना चाहते हैं। ",
    "धन्यवाद।",
  ]);
  expect(cut(["इसकी कीमत लगभग १५.५० रुपये प्रति किलो है। ठीक है?"])).toHaveLength(2);
});
