package citations

// functionRuns are function words, above all those that ask, of scripts without spaces. What they share characters with says little.
const functionRuns = "什么 什麼 多少 哪 谁 誰 为什么 為什麼 怎么 怎麼 怎样 如何 几 幾 请问 何时 何处 是 的 了 吗 嗎 呢 " +
	"何 いつ どこ だれ なぜ どの どう どれ どんな です ます ですか ました " +
	"무엇 누구 언제 어디 어떻게 어떤 얼마나 " +
	"อะไร ใคร ไหน เมื่อไหร่ เมื่อไร เมื่อใด อย่างไร ยังไง ทำไม กี่ เท่าไร เท่าไหร่ ใด คือ " +
	"អ្វី នរណា ណា ប៉ុន្មាន ຫຍັງ ໃຜ ໃສ ဘာ ဘယ် "

func functionEnglish(word string) bool {
	switch word {
	case "a", "an", "the", "and", "or", "but", "nor", "if", "then", "than", "so", "as", "of", "at", "by", "for", "with", "about", "against",
		"between", "into", "through", "during", "before", "after", "above", "below", "to", "from", "up", "down", "in", "out", "on", "off",
		"over", "under", "again", "further", "once", "here", "there", "all", "any", "both", "each", "few", "more", "most", "other", "some",
		"such", "no", "not", "only", "own", "same", "too", "very", "can", "will", "just", "should", "now", "is", "am", "are", "was", "were",
		"be", "been", "being", "have", "has", "had", "having", "do", "does", "did", "doing", "would", "could", "may", "might", "must",
		"shall", "i", "me", "my", "we", "our", "you", "your", "he", "him", "his", "she", "her", "it", "its", "they", "them", "their", "this",
		"that", "these", "those", "what", "which", "who", "whom", "whose", "when", "where", "why", "how", "many", "much", "s", "t", "don",
		"also", "because", "while", "until", "please", "tell", "us", "find", "give", "show", "explain", "describe", "list", "let", "know",
		"want", "need":
		return true
	}
	return false
}

func functionSpanish(word string) bool {
	switch word {
	case "el", "la", "los", "las", "un", "una", "unos", "unas", "y", "o", "u", "e", "pero", "si", "no", "ni", "que", "de", "del", "al", "a",
		"en", "por", "para", "con", "sin", "sobre", "entre", "hasta", "desde", "durante", "segun", "contra", "como", "mas", "menos", "muy",
		"ya", "tambien", "solo", "es", "son", "era", "eran", "fue", "fueron", "ser", "sido", "siendo", "esta", "estan", "estaba", "estaban",
		"este", "esto", "estos", "estas", "ese", "eso", "esa", "esos", "esas", "aquel", "aquella", "ha", "han", "habia", "haber", "he", "hay",
		"tiene", "tienen", "tenia", "su", "sus", "se", "le", "les", "lo", "me", "mi", "mis", "te", "tu", "tus", "nos", "nuestro", "nuestra",
		"yo", "ella", "ellos", "ellas", "usted", "ustedes", "quien", "quienes", "cual", "cuales", "cuanto", "cuanta", "cuantos", "cuantas",
		"cuando", "donde", "porque", "qual", "otro", "otra", "otros", "otras", "todo", "toda", "todos", "todas", "puede", "pueden", "cada",
		"uno":
		return true
	}
	return false
}

func functionFrench(word string) bool {
	switch word {
	case "le", "la", "les", "un", "une", "des", "du", "de", "d", "l", "et", "ou", "mais", "si", "ne", "pas", "ni", "que", "qu", "qui", "quoi",
		"dont", "quel", "quelle", "quels", "quelles", "quand", "comment", "combien", "pourquoi", "lequel", "laquelle", "en", "dans", "par",
		"pour", "avec", "sans", "sur", "sous", "entre", "vers", "chez", "depuis", "pendant", "avant", "apres", "au", "aux", "a", "est",
		"sont", "etait", "etaient", "ete", "etre", "sera", "ont", "avait", "avaient", "avoir", "fut", "furent", "ce", "cet", "cette", "ces",
		"c", "se", "s", "sa", "son", "ses", "leur", "leurs", "il", "elle", "ils", "elles", "on", "nous", "vous", "je", "tu", "me", "te",
		"mon", "ma", "mes", "ton", "ta", "tes", "notre", "nos", "votre", "vos", "y", "plus", "moins", "tres", "aussi", "comme", "meme",
		"tout", "toute", "tous", "toutes", "autre", "autres", "peut", "peuvent", "fait", "cela", "j", "n", "m", "t":
		return true
	}
	return false
}

func functionGerman(word string) bool {
	switch word {
	case "der", "die", "das", "den", "dem", "des", "ein", "eine", "einen", "einem", "einer", "eines", "und", "oder", "aber", "wenn", "dann",
		"als", "wie", "so", "nicht", "kein", "keine", "keinen", "nur", "auch", "noch", "schon", "sehr", "mehr", "von", "vom", "zu", "zum",
		"zur", "in", "im", "an", "am", "auf", "aus", "bei", "mit", "nach", "seit", "uber", "unter", "vor", "durch", "fur", "gegen", "ohne",
		"um", "bis", "zwischen", "wahrend", "ist", "sind", "war", "waren", "wird", "werden", "wurde", "wurden", "worden", "sein", "hat",
		"haben", "hatte", "hatten", "kann", "konnen", "konnte", "muss", "soll", "sollte", "es", "er", "sie", "ich", "du", "wir", "ihr", "ihm",
		"ihn", "ihnen", "mich", "mir", "dich", "uns", "euch", "sich", "mein", "dein", "seine", "seiner", "seinen", "ihre", "ihrer", "ihren",
		"diese", "dieser", "dieses", "diesem", "diesen", "jene", "was", "wer", "wen", "wem", "wessen", "wann", "wo", "woher", "wohin",
		"warum", "weshalb", "welche", "welcher", "welches", "welchen", "welchem", "wieviel", "viele", "viel", "dass", "man", "alle":
		return true
	}
	return false
}

func functionItalian(word string) bool {
	switch word {
	case "il", "lo", "la", "i", "gli", "le", "un", "uno", "una", "e", "ed", "o", "ma", "se", "non", "ne", "che", "chi", "cui", "quale",
		"quali", "quando", "dove", "come", "perche", "quanto", "quanta", "quanti", "quante", "di", "del", "dello", "della", "dei", "degli",
		"delle", "a", "al", "allo", "alla", "ai", "agli", "alle", "da", "dal", "dallo", "dalla", "dai", "dagli", "dalle", "in", "nel",
		"nello", "nella", "nei", "negli", "nelle", "su", "sul", "sullo", "sulla", "sui", "sugli", "sulle", "con", "per", "tra", "fra", "era",
		"erano", "sono", "stato", "stata", "stati", "state", "essere", "ha", "hanno", "aveva", "avevano", "avere", "fu", "furono", "si", "ci",
		"vi", "mi", "ti", "lui", "lei", "loro", "noi", "voi", "io", "tu", "suo", "sua", "suoi", "sue", "mio", "mia", "tuo", "questo",
		"questa", "questi", "queste", "quello", "quella", "quelli", "quelle", "anche", "piu", "meno", "molto", "cosa", "ogni", "altro",
		"altra", "altri", "altre", "puo", "possono", "l", "d", "c":
		return true
	}
	return false
}

func functionPortuguese(word string) bool {
	switch word {
	case "o", "a", "os", "as", "um", "uma", "uns", "umas", "e", "ou", "mas", "se", "nao", "nem", "que", "quem", "qual", "quais", "quando",
		"onde", "como", "porque", "quanto", "quanta", "quantos", "quantas", "de", "do", "da", "dos", "das", "em", "no", "na", "nos", "nas",
		"num", "numa", "por", "pelo", "pela", "pelos", "pelas", "para", "com", "sem", "sobre", "entre", "ate", "desde", "durante", "segundo",
		"contra", "ao", "aos", "mais", "menos", "muito", "ja", "tambem", "so", "era", "eram", "foi", "foram", "ser", "sido", "sao", "esta",
		"estao", "estava", "estavam", "este", "isto", "estes", "estas", "esse", "isso", "essa", "aquele", "aquela", "ha", "tem", "tinha",
		"ter", "seu", "sua", "seus", "suas", "lhe", "lhes", "me", "meu", "minha", "te", "teu", "nosso", "nossa", "eu", "ele", "ela",
		"elas", "voce", "outro", "outra", "outros", "outras", "todo", "toda", "todos", "todas", "pode", "podem", "cada":
		return true
	}
	return false
}

func functionDutch(word string) bool {
	switch word {
	case "de", "het", "een", "en", "of", "maar", "als", "dan", "zo", "niet", "geen", "ook", "nog", "al", "zeer", "meer", "van", "voor", "door",
		"met", "op", "in", "aan", "bij", "naar", "uit", "over", "onder", "tussen", "tegen", "tot", "om", "te", "ten", "ter", "na", "sinds",
		"tijdens", "zonder", "is", "zijn", "was", "waren", "wordt", "worden", "werd", "werden", "geweest", "heeft", "hebben", "had", "hadden",
		"kan", "kunnen", "kon", "konden", "moet", "zal", "zou", "zullen", "ik", "jij", "je", "u", "hij", "zij", "ze", "wij", "we", "jullie",
		"hem", "haar", "hun", "hen", "mij", "mijn", "jouw", "ons", "onze", "zich", "dit", "dat", "deze", "die", "er", "daar", "hier", "wat",
		"wie", "wiens", "wanneer", "waar", "waarom", "hoe", "welk", "welke", "hoeveel", "veel", "alle", "andere", "men", "toen":
		return true
	}
	return false
}

func functionSwedish(word string) bool {
	switch word {
	case "och", "eller", "men", "om", "inte", "ej", "som", "att", "den", "det", "de", "en", "ett", "i", "pa", "av", "for", "med", "till",
		"fran", "vid", "under", "over", "mellan", "mot", "utan", "efter", "innan", "sedan", "ar", "var", "vara", "varit", "blir", "blev",
		"bli", "har", "hade", "ha", "kan", "kunde", "ska", "skulle", "maste", "jag", "du", "han", "hon", "vi", "ni", "dem", "honom", "henne",
		"mig", "dig", "oss", "er", "sig", "min", "din", "sin", "sitt", "sina", "hans", "hennes", "deras", "denna", "detta", "dessa", "vad",
		"vem", "vems", "vilken", "vilket", "vilka", "nar", "hur", "varfor", "manga", "mycket", "mer", "an", "aven", "alla", "andra", "dar",
		"sa", "man":
		return true
	}
	return false
}

func functionDanish(word string) bool {
	switch word {
	case "og", "eller", "men", "hvis", "ikke", "som", "at", "den", "det", "de", "en", "et", "i", "pa", "af", "for", "med", "til", "fra", "ved",
		"under", "over", "mellem", "mod", "uden", "efter", "siden", "er", "var", "vaere", "vaeret", "bliver", "blev", "blive", "har", "havde",
		"have", "kan", "kunne", "skal", "skulle", "ma", "jeg", "du", "han", "hun", "vi", "dem", "ham", "hende", "mig", "dig", "os", "jer",
		"sig", "min", "din", "sin", "sit", "sine", "hans", "hendes", "deres", "denne", "dette", "disse", "hvad", "hvem", "hvilken", "hvilket",
		"hvilke", "hvornar", "hvor", "hvordan", "hvorfor", "mange", "meget", "mere", "end", "ogsa", "alle", "andre", "her", "der", "sa",
		"man":
		return true
	}
	return false
}

func functionNorwegian(word string) bool {
	switch word {
	case "og", "eller", "men", "hvis", "ikke", "som", "at", "den", "det", "de", "en", "et", "ei", "i", "pa", "av", "for", "med", "til", "fra",
		"ved", "under", "over", "mellom", "mot", "uten", "etter", "siden", "er", "var", "vaere", "vaert", "blir", "ble", "bli", "har",
		"hadde", "ha", "kan", "kunne", "skal", "skulle", "ma", "jeg", "du", "han", "hun", "vi", "dere", "dem", "ham", "henne", "meg", "deg",
		"oss", "seg", "min", "din", "sin", "sitt", "sine", "hans", "hennes", "deres", "denne", "dette", "disse", "hva", "hvem", "hvilken",
		"hvilket", "hvilke", "nar", "hvor", "hvordan", "hvorfor", "mange", "mye", "mer", "enn", "ogsa", "alle", "andre", "her", "der", "sa",
		"man":
		return true
	}
	return false
}

func functionFinnish(word string) bool {
	switch word {
	case "ja", "tai", "mutta", "jos", "ei", "eivat", "en", "et", "emme", "ole", "on", "ovat", "oli", "olivat", "olla", "ollut", "han", "he",
		"se", "ne", "mina", "sina", "me", "te", "tama", "tuo", "nama", "nuo", "taman", "sen", "niiden", "naiden", "joka", "jotka", "jonka",
		"joiden", "jossa", "josta", "mika", "mita", "mitka", "kuka", "ketka", "kenen", "milloin", "missa", "mista", "mihin", "miten", "miksi",
		"kuinka", "kumpi", "moni", "monta", "paljon", "kun", "niin", "kuin", "etta", "koska", "myos", "vain", "viela", "jo", "hyvin",
		"enemman", "kanssa", "ilman", "ennen", "jalkeen", "aikana", "mukaan", "yli", "alla", "valilla", "seka":
		return true
	}
	return false
}

func functionHungarian(word string) bool {
	switch word {
	case "a", "az", "egy", "es", "vagy", "de", "ha", "nem", "ne", "sem", "is", "hogy", "mint", "meg", "mar", "csak", "nagyon", "volt",
		"voltak", "van", "vannak", "lesz", "lett", "lenni", "ez", "ezt", "ennek", "ezek", "azt", "annak", "azok", "en", "te", "o", "mi", "ti",
		"ok", "ki", "kik", "kit", "kinek", "mit", "minek", "mikor", "hol", "hova", "honnan", "hogyan", "miert", "melyik", "milyen", "hany",
		"mennyi", "amely", "amelyek", "ami", "aki", "akik", "el", "fel", "le", "be", "kell", "lehet", "utan", "elott", "alatt", "kozott",
		"szerint", "minden", "mas", "ezen", "azon", "altal":
		return true
	}
	return false
}

func functionRomanian(word string) bool {
	switch word {
	case "un", "o", "unui", "unei", "si", "sau", "dar", "daca", "nu", "nici", "ca", "care", "pe", "cine", "cui", "ce", "cand", "unde", "cum",
		"de", "din", "la", "in", "cu", "fara", "pentru", "prin", "intre", "pana", "dupa", "sub", "este", "e", "sunt", "era", "erau", "fi",
		"fost", "a", "au", "avea", "are", "al", "ai", "ale", "lui", "ei", "lor", "el", "ea", "ele", "eu", "tu", "noi", "voi", "mea", "sa",
		"sale", "acest", "aceasta", "acesti", "aceste", "acel", "acea", "mai", "foarte", "doar", "tot", "toate", "toti", "alt", "alta",
		"alte", "cat", "cata", "cati", "cate", "se", "isi", "le", "ii", "poate":
		return true
	}
	return false
}

func functionTurkish(word string) bool {
	switch word {
	case "ve", "veya", "ya", "da", "de", "ama", "fakat", "eger", "degil", "bir", "bu", "su", "o", "bunlar", "onlar", "ben", "sen", "biz",
		"siz", "onun", "onlarin", "ne", "nedir", "kim", "kimin", "kimdir", "hangi", "nerede", "nereye", "nereden", "nasil", "neden", "nicin",
		"kac", "zaman", "icin", "ile", "gibi", "kadar", "gore", "sonra", "once", "cok", "daha", "en", "her", "tum", "bazi", "mi", "mu", "var",
		"yok", "olan", "olarak", "oldu", "olmak", "oldugu", "idi", "ise", "ki", "hem", "diye", "arasinda", "tarafindan":
		return true
	}
	return false
}

func functionPolish(word string) bool {
	switch word {
	case "i", "lub", "albo", "ale", "jesli", "nie", "ani", "ze", "ktory", "ktora", "ktore", "ktorzy", "ktorego", "kto", "kogo", "komu", "co",
		"czego", "kiedy", "gdzie", "skad", "dokad", "jak", "dlaczego", "ile", "jaki", "jaka", "jakie", "czy", "w", "we", "z", "na", "do",
		"od", "po", "przy", "przez", "dla", "bez", "pod", "nad", "miedzy", "o", "u", "jest", "sa", "byl", "byla", "bylo", "byly", "byc",
		"bedzie", "ma", "maja", "mial", "on", "ona", "ono", "oni", "one", "ja", "ty", "my", "wy", "go", "jej", "ich", "mu", "im", "sie",
		"ten", "ta", "to", "te", "tego", "tej", "tych", "tym", "bardzo", "tylko", "tez", "takze", "juz", "jeszcze", "wszystkie", "inne",
		"moze", "a":
		return true
	}
	return false
}

func functionIndonesian(word string) bool {
	switch word {
	case "dan", "atau", "tetapi", "jika", "tidak", "bukan", "yang", "di", "ke", "dari", "untuk", "pada", "dengan", "oleh", "dalam", "antara",
		"tanpa", "sebelum", "sesudah", "setelah", "adalah", "ialah", "itu", "ini", "ia", "dia", "mereka", "kami", "kita", "saya", "aku",
		"anda", "apa", "siapa", "kapan", "dimana", "mana", "bagaimana", "mengapa", "berapa", "juga", "hanya", "sudah", "telah", "akan",
		"dapat", "bisa", "ada", "sebagai", "seperti", "lebih", "sangat", "para", "sebuah", "suatu", "karena", "banyak", "semua", "lain":
		return true
	}
	return false
}

func functionVietnamese(word string) bool {
	switch word {
	case "la", "va", "hoac", "nhung", "neu", "khong", "cua", "cho", "voi", "tu", "den", "trong", "ngoai", "tren", "duoi", "giua", "nay", "do",
		"kia", "ai", "gi", "nao", "dau", "khi", "bao", "nhieu", "the", "tai", "sao", "mot", "cac", "duoc", "bi", "da", "dang", "se", "co",
		"cung", "chi", "rat", "hon", "ve":
		return true
	}
	return false
}

func functionCzech(word string) bool {
	switch word {
	case "a", "i", "nebo", "ale", "jestli", "ne", "ani", "ze", "ktery", "ktera", "ktere", "kteri", "kdo", "koho", "komu", "co", "ceho", "kdy",
		"kde", "kam", "odkud", "jak", "proc", "kolik", "jaky", "jaka", "jake", "zda", "v", "ve", "s", "se", "z", "na", "do", "od", "po",
		"pri", "pro", "bez", "pod", "nad", "mezi", "o", "u", "je", "jsou", "byl", "byla", "bylo", "byly", "byt", "bude", "ma", "maji", "mel",
		"on", "ona", "ono", "oni", "ja", "ty", "my", "vy", "ho", "jeho", "jeji", "jejich", "mu", "si", "ten", "ta", "to", "toho", "velmi",
		"jen", "take", "uz", "jeste", "vsechny", "jine", "muze":
		return true
	}
	return false
}

func functionRussian(word string) bool {
	switch word {
	case "и", "или", "но", "а", "если", "то", "не", "ни", "что", "кто", "кого", "кому", "чеи", "чья", "чье", "какои", "какая", "какое",
		"какие", "каких", "какого", "какую", "когда", "где", "куда", "откуда", "как", "почему", "зачем", "сколько", "которыи", "которая",
		"которое", "которые", "которого", "в", "во", "на", "с", "со", "из", "от", "до", "по", "при", "для", "без", "под", "над", "между", "о",
		"об", "у", "к", "за", "через", "после", "перед", "это", "этот", "эта", "эти", "этого", "тот", "та", "те", "был", "была", "было",
		"были", "быть", "есть", "будет", "он", "она", "оно", "они", "я", "ты", "мы", "вы", "его", "ее", "их", "ему", "еи", "им", "себя",
		"свои", "свою", "же", "ли", "бы", "лишь", "только", "также", "уже", "еще", "очень", "более", "все", "всех", "другие", "может":
		return true
	}
	return false
}

func functionUkrainian(word string) bool {
	switch word {
	case "і", "и", "або", "але", "якщо", "то", "не", "ні", "що", "хто", "кого", "кому", "чии", "якии", "яка", "яке", "які", "коли", "де",
		"куди", "звідки", "як", "чому", "скільки", "котрии", "в", "у", "на", "з", "зі", "із", "від", "до", "по", "при", "для", "без", "під",
		"над", "між", "о", "об", "за", "через", "після", "перед", "це", "цеи", "ця", "ці", "тои", "та", "ті", "був", "була", "було", "були",
		"бути", "є", "буде", "він", "вона", "воно", "вони", "я", "ти", "ми", "ви", "иого", "іі", "іх", "иому", "іи", "себе", "свіи", "же",
		"чи", "б", "лише", "тільки", "також", "вже", "ще", "дуже", "більше", "все", "інші", "може":
		return true
	}
	return false
}

func functionArabic(word string) bool {
	switch word {
	case "في", "من", "الى", "على", "عن", "مع", "هذا", "هذه", "ذلك", "تلك", "التي", "الذي", "الذين", "هو", "هي", "هم", "هن", "انا", "انت",
		"نحن", "ما", "ماذا", "متى", "اين", "كيف", "لماذا", "كم", "اي", "هل", "قد", "لقد", "كان", "كانت", "كانوا", "يكون", "تكون", "ليس", "لا",
		"لم", "لن", "ان", "انه", "انها", "او", "و", "ثم", "بل", "لكن", "اذا", "كل", "بعض", "غير", "بين", "بعد", "قبل", "عند", "منذ", "حتى",
		"خلال", "حول", "تم", "كما", "ايضا", "به", "بها", "له", "لها", "فيه", "فيها", "منه", "منها", "عليه", "عليها", "وما", "ومن", "وفي",
		"وهو", "وهي", "احد":
		return true
	}
	return false
}

func functionPersian(word string) bool {
	switch word {
	case "در", "از", "به", "با", "که", "این", "ان", "را", "و", "یا", "اما", "اگر", "برای", "تا", "بر", "هم", "نیز", "هر", "چه", "کی", "کجا",
		"چگونه", "چرا", "چند", "کدام", "است", "بود", "شد", "شده", "می", "های", "ها", "یک", "خود", "او", "انها", "ما", "شما", "من", "نه",
		"هیچ", "پس", "بین", "توسط":
		return true
	}
	return false
}

func functionHindi(word string) bool {
	switch word {
	case "का", "की", "के", "को", "में", "से", "पर", "और", "या", "एक", "यह", "ये", "वह", "वे", "इस", "उस", "इन", "उन", "है", "हैं", "था", "थी",
		"थे", "हो", "होता", "होती", "होते", "हुआ", "हुई", "हुए", "कि", "जो", "जिस", "जिन", "जब", "तब", "तक", "ने", "भी", "ही", "नहीं", "न",
		"तो", "लिए", "साथ", "बाद", "द्वारा", "कर", "करने", "किया", "गया", "गई", "गए", "क्या", "कौन", "कब", "कहाँ", "कहां", "कैसे", "क्यों",
		"कितना", "कितने", "कितनी", "किस", "किसने", "किसे", "किसका", "किसकी", "किन", "कौनसा", "कौनसी", "अपने", "अपनी", "अपना", "अन्य", "रूप",
		"किसी", "कुछ", "सबसे", "इसके", "उनके":
		return true
	}
	return false
}

func functionGreek(word string) bool {
	switch word {
	case "ο", "η", "το", "οι", "τα", "του", "της", "των", "τον", "την", "τους", "τις", "ενα", "ενας", "μια", "και", "αλλα", "αν", "δεν", "μην",
		"οτι", "που", "ποιος", "ποια", "ποιο", "ποιοι", "τι", "ποτε", "πως", "γιατι", "ποσο", "ποσοι", "ποσα", "σε", "στο", "στη", "στην",
		"στον", "στα", "στις", "με", "απο", "για", "προς", "κατα", "μετα", "πριν", "χωρις", "ειναι", "ηταν", "εχει", "εχουν", "ειχε", "αυτο",
		"αυτος", "αυτη", "αυτα", "ως", "θα", "να":
		return true
	}
	return false
}

func functionHebrew(word string) bool {
	switch word {
	case "של", "את", "על", "עם", "אל", "מן", "לא", "או", "אבל", "אם", "כי", "גם", "רק", "הוא", "היא", "הם", "הן", "אני", "אתה", "אנחנו", "זה",
		"זאת", "אלה", "מה", "מי", "מתי", "איפה", "היכן", "איך", "כיצד", "למה", "מדוע", "כמה", "איזה", "אילו", "היה", "היתה", "היו", "יש",
		"אין", "כל", "בין", "אחרי", "לפני":
		return true
	}
	return false
}
