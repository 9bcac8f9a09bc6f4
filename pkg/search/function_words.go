package search

import (
	_ "embed"
	"strings"
)

// functionRuns are function words, above all question words, of scripts without spaces. Characters that overlap them carry little weight.
const functionRuns = "什么 什麼 多少 哪 谁 誰 为什么 為什麼 怎么 怎麼 怎样 如何 几 幾 请问 何时 何处 是 的 了 吗 嗎 呢 " +
	"何 いつ どこ だれ なぜ どの どう どれ どんな です ます ですか ました " +
	"무엇 누구 언제 어디 어떻게 어떤 얼마나 " +
	"อะไร ใคร ไหน เมื่อไหร่ เมื่อไร เมื่อใด อย่างไร ยังไง ทำไม กี่ เท่าไร เท่าไหร่ ใด คือ " +
	"អ្វី នរណា ណា ប៉ុន្មាន ຫຍັງ ໃຜ ໃສ ဘာ ဘယ် "

// functionWordList has a line for each language: its name, and its function words without diacritics.
//
//go:embed function_words.txt
var functionWordList string

// functionWords maps each function word to a bit set of its languages; those of languageTable come first.
var functionWords = readFunctionWords(functionWordList)

func readFunctionWords(list string) map[string]uint32 {
	words := make(map[string]uint32, len(list)/5)
	other := len(languageTable)
	for line := range strings.Lines(list) {
		name, all, _ := strings.Cut(line, ":")
		bit := languageNamed(name)
		if bit < 0 {
			bit = other
			other++
		}
		for word := range strings.FieldsSeq(all) {
			words[word] |= 1 << bit
		}
	}
	return words
}

// languageNamed returns the index of a language in languageTable, or -1.
func languageNamed(name string) int {
	for l, row := range languageTable {
		if row.name == name {
			return l
		}
	}
	return -1
}
